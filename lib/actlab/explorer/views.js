// What each picture shows, of a context (see `context`): {charts or text, said: what its sentence is filled with, rows}.
// Every estimate comes with the catalogue; here it is looked up.

/** What all pictures ask of the study and the choice: the study itself, and what is chosen in it. */
function context({ studies, words }, choice, options) {
  const study = studies[choice.study], { metric, view, along } = choice, { arms, series, names } = study, label = names[metric];
  const has = (name) => words.menus[view].includes(name), free = has("along") && options[along]?.length > 1 && along;
  const minus = has("minus") && choice.minus !== "none" && choice.minus;
  const ticked = view === "two" ? [arms[choice.a], arms[choice.b]] : inside(study, choice, free).filter(({ at }) => choice[series].includes(at[series]));
  const spoken = (level) => study.said[level] ?? level, named = ({ at }) => Object.values(at).map(spoken).join(", ");
  const say = ({ at }) => spoken(at[series]) + (free ? ` (${names[along]} ${spoken(at[along])})` : "");
  const shown = ticked.filter((arm) => arm !== twin(study, arm, minus)), c = { metric, minus, against: spoken(minus), label, brief: short(label) };
  const { note, table } = study.metrics[metric], also = minus || table === "pairs" ? [0] : []; // how far two runs are apart is seen against none
  const y = { label: minus ? fill(words.axes.difference, c) : label, also };
  return { ...study, ...c, note, table, words, choice, options, ticked, shown, free, spoken, named, say, y };
}

/** A mark: an arm's estimate, in words too; a difference is hollow where it is not significant. */
function point({ styles, series, say }, arm, found, more) {
  const words = `${say(arm)} ${told(found)}${arm.ended}${known(more.x) ? ` at ${digits(more.x)}` : ""}`;
  return { arm, style: styles[arm.at[series]], found, words, hollow: found.length > 4 && !(found[4] < 0.05), ...more };
}
/** An arm minus another: [value, low, high, n, p]. A pair stands in one direction; the other one has its p alone. */
function difference({ pairs, differences }, moment, metric, arm, other) {
  const of = (first, second) => differences[moment][metric][pairs[first.key][second?.key]] ?? [];
  const own = of(arm, other), turned = own.length === 1, p = own.at(-1);
  const [there, half, n] = turned ? of(other, arm) : own;
  const value = turned && known(there) ? 0 - there : there;
  const limit = (sign) => Number((value + sign * (half ?? NaN)).toPrecision(6));
  return [value, limit(-1), limit(1), n, p];
}

/** The arms at a moment, each with its mean, or its difference from a level of the series. */
function marks(c, moment, metric = c.metric) {
  return c.shown.map((arm) => {
    if (c.minus) return point(c, arm, difference(c, moment, metric, arm, twin(c, arm, c.minus)), {});
    return point(c, arm, c.found[moment][metric][arm.place] ?? [], { singles: c.singles[moment]?.[metric][arm.place] });
  });
}
/** The points of an arm's training, where both were measured. */
function course(c, arm, x, y, training) {
  const { [x]: places = [], [y]: values = [], n = [] } = training[arm.place];
  return valued(places.map((place, i) => point(c, arm, [known(place) && values[i], NaN, NaN, n[i]], { x: place })));
}

const valued = (points) => points.filter(({ found }) => known(found[0]));
/** Of differences: a significant one before the others. */
const largest = (points) => valued(points).sort((a, b) => a.hollow - b.hollow || Math.abs(b.found[0]) - Math.abs(a.found[0]))[0];
/** The lowest and the highest of some points in words, or the largest significant of some differences, and how many. */
function summary(c, points, range = "range") {
  const { said } = c.words, found = valued(points).sort((a, b) => a.found[0] - b.found[0]), first = largest(points);
  if (!first) return said.nothing;
  const tested = points.filter(({ found }) => known(found[4])), significant = tested.filter(({ hollow }) => !hollow).length;
  const template = !c.minus ? range : significant ? "some" : tested.length ? "none" : "untested";
  return fill(said[template], { ...c, low: found[0].words, high: found.at(-1).words, words: first.words, n: first.found[3], count: tested.length, significant });
}

/** A chart of columns: a level along the axis each, or a series if there is one. */
function columns({ series, names, free, options, spoken }, points, y) {
  const used = (factor) => options[factor].filter((level) => points.some(({ arm }) => arm.at[factor] === level));
  const factor = free && used(free).length > 1 ? free : series, levels = used(factor), beside = used(series);
  const aside = ({ at }) => (factor === free ? (beside.indexOf(at[series]) - (beside.length - 1) / 2) * Math.min(0.8 / beside.length, 0.2) : 0);
  const placed = points.map((one) => ({ ...one, x: levels.indexOf(one.arm.at[factor]) + aside(one.arm) }));
  return { x: { label: names[factor], names: levels.map(spoken) }, y, points: placed };
}

const PICTURES = {
  values(c) {
    const points = marks(c, "end");
    return { charts: [columns(c, points, c.y)], said: { rest: summary(c, points) } };
  },
  loss(c) {
    const { level } = c.choice, points = marks(c, level), loss = c.ticked.map(({ place }) => c.found[level].val_loss[place][0]).find(known);
    const dotted = ({ px, top, bottom }) => straight(px(loss), top, px(loss), bottom, { class: "level" });
    const paths = c.ticked.flatMap((arm) => course(c, arm, "val_loss", c.metric, c.along)), x = { label: c.words.axes.loss, backwards: true };
    const training = { x, y: { label: c.label, also: [0] }, points: paths, line: true, more: known(loss) && dotted };
    return { charts: [training, columns(c, points, c.y)], said: { level: digits(loss), rest: summary(c, points) } };
  },
  through(c) {
    const { x } = c.choice, label = c.names[x] ?? x;
    const points = c.shown.flatMap((arm) => {
      const before = course(c, arm, x, c.metric, c.along);
      if (x === "iteration") return before;
      const [place, low, high] = c.found.end[x][arm.place];
      return [...before.slice(0, -1), point(c, arm, c.found.end[c.metric][arm.place], { x: place, ends: [low, high] })];
    });
    const chart = { x: { label, backwards: x === "val_loss" }, y: { label: c.label }, points, line: true };
    return { charts: [chart], said: { x: short(label), count: c.shown.length } };
  },
  ulp(c) {
    const moved = { ...c, shown: c.shown.filter(({ place }) => c.found["one bit"][c.metric][place]) };
    const points = marks(moved, "one bit").map((one) => ({ ...one, what: "after one bit" }));
    const seeds = marks(moved, "end").map((one) => ({ ...one, what: "another seed", hollow: true, singles: [] }));
    return { charts: [columns(c, [...seeds, ...points], { label: c.label, log: true })], said: { rest: summary(c, points) } };
  },
  drift(c) {
    const { step } = c.choice, points = c.shown.flatMap((arm) => course(c, arm, "iteration", "val_loss", c.drift));
    const y = { label: fill(c.words.axes.drift, c), log: true }, until = c.options.step.indexOf(step) + 1;
    const of_step = points.filter(({ x }) => String(x) === step).map((one) => ({ ...one, words: `${c.say(one.arm)}, ${told(one.found)}` }));
    return { charts: [{ x: { label: "iteration" }, y, points, line: true, until }], said: { rest: summary({ ...c, step }, of_step, "apart") } };
  },
  bend(c) {
    const { bend } = c.choice, names = c.options.bend, shown = names.flatMap((half) => inside(c, c.choice).filter((arm) => arm.bend === half));
    const dots = (moment, metric, log) => {
      const points = marks({ ...c, shown }, moment, metric).map((one) => ({ ...one, x: names.indexOf(one.arm.bend), style: c.styles[c.reference], hollow: one.arm.bend !== bend }));
      return { x: { label: c.words.axes.bend, names }, y: { label: c.names[metric], log }, points };
    };
    const curve = ({ px, py }) => { // of SmeLU: a parabola from -bend to bend
      const [start, left, corner, right, end] = [[-2, 0], [-bend, 0], [0, 0], [bend, bend], [2, 2]].map(([x, y]) => [px(x), py(y)]);
      return path({ colour: "currentColor" }, `M${start}L${left}Q${corner} ${right}L${end}`);
    };
    const frame = { x: { label: "x", also: [-2, 2] }, y: { label: "f(x)", also: [0, 2] }, points: [], more: curve };
    const charts = [dots("one bit", c.metric, true), dots("end", "val_loss")];
    const [one, two] = charts.map(({ points }) => points.find(({ hollow }) => !hollow)?.words ?? c.words.said.nothing);
    return { charts: [frame, ...charts], said: { bend, one, two } };
  },
  two(c) {
    const [a, b] = c.ticked, end = c.found.end;
    const found = (name) => [end[name][a.place], end[name][b.place], difference(c, "end", name, b, a)], [, , apart] = found(c.metric);
    const losses = c.table === "pairs" ? fill(c.words.said.losses, { words: told(found("val_loss")[2]) }) : "";
    const points = marks({ ...c, shown: c.ticked, say: c.named }, "end").map((one, x) => ({ ...one, x })), [one, two] = points.map(({ singles }) => singles);
    const joined = ({ px, py }) => svg("g", { class: "grid" }, ...one.flatMap((value, i) =>
      (known(value) && known(two[i]) ? [straight(px(0.06), py(value), px(0.94), py(two[i]))] : [])));
    const x = { label: `A: ${c.named(a)}; B: ${c.named(b)}`, names: ["A", "B"] }, more = a.labels.join() === b.labels.join() && joined;
    const rows = Object.keys(c.metrics).flatMap((name) => found(name).map((estimate, i) => [c.names[name], ["A", "B", "B minus A"][i], ...estimate]));
    return { charts: [{ x, y: { label: c.label }, points, more }], rows, said: { words: told(apart), p: digits(apart[4], 2), losses } };
  },
  texts: ({ texts }) => ({ text: texts.html, said: texts }),
};

/** The same numbers in Python: the call of the package that gives them. */
function code({ choice, words, metric, table, cells, series, minus, ticked: [a, b] }) {
  const list = (names) => JSON.stringify(names).replaceAll(",", ", "), two = choice.view === "two";
  const factor = two ? Object.keys(a.at).find((name) => a.at[name] !== b.at[name]) : series, varied = cells.includes(factor) ? factor : "setting";
  const level = two ? (a.at[varied] ?? a.setting) : minus;
  return fill(words.code[choice.view + (minus ? " minus" : "")], {
    study: list(choice.study), metric: list(metric), table, share: choice.level / 100, series: list(varied), all: list(cells),
    by: list(cells.filter((name) => name !== varied)), steps: list([...cells, "iteration"]), minus: Number(level) ? level : list(level),
  });
}
