// What each picture shows, of a context (see `context`): {charts or nodes, said, rows}.
// Every estimate comes with the catalogue; here it is looked up.

/** An arm minus another of those that differ from it in one factor: [value, low, high, n, Holm's p]. */
function difference({ arms, pairs }, columns, arm, other) {
  const i = arms.indexOf(arm), j = arms.indexOf(other), place = pairs.findIndex((pair) => pair.includes(i) && pair.includes(j));
  const [value, half, n, ...p] = columns.map((column) => column[place] ?? NaN), turned = pairs[place]?.[0] !== i, middle = turned ? -value : value;
  return [middle, ...[-half, half].map((reach) => Number((middle + reach).toPrecision(6))), n, p[Number(turned)]];
}

/** What all pictures ask of the catalogue and the choice. */
function context({ studies, words }, [choice, options]) {
  const study = studies[choice.study], { metric, view, along } = choice, { series, names } = study, label = names[metric];
  const has = (name) => words.menus[view].includes(name), free = has("along") && options[along].length > 1 && along;
  const minus = has("minus") && choice.minus !== "none" ? choice.minus : "";
  const arms = view === "two" ? [choice.a, choice.b].map((name) => study.arms.find((arm) => arm.key === name))
    : select(study, choice, free).filter((arm) => arm !== twin(study, arm, minus));
  const name = ({ at }) => at[series] + (free ? ` (${names[along]} ${at[along]})` : "");
  const also = study.metrics[metric].pairs ? [0] : []; // how far two runs are apart is seen against none
  const y = minus ? { label: fill(words.axes.difference, { label, minus }), also: [0] } : { label, also };
  return { study, words, choice, options, metric, note: study.metrics[metric].note, minus, arms, free, name, label, also, y, brief: short(label) };
}

/** A mark: an arm's estimate, in words too. */
function point({ name }, arm, found, more = {}) {
  const words = `${name(arm)} ${told(found, more.signed)}${arm.ended}${known(more.x) ? ` at ${digits(more.x)}` : ""}`;
  return { arm, found, words, ...more };
}

/** The arms at one moment, each with its mean, or its difference from a level of the series. */
function compared(c, mean, columns, singles) {
  const { study, metric, minus } = c;
  return c.arms.map((arm) => {
    if (!minus) return point(c, arm, mean(arm), { singles: singles && arm.singles[metric] });
    const found = difference(study, columns, arm, twin(study, arm, minus));
    return point(c, arm, found, { signed: true, hollow: !(found[4] < 0.05) });
  });
}
const atEnd = (c) => compared(c, (arm) => arm.end[c.metric], c.study.end[c.metric], true);

const valued = (points) => points.filter(({ found }) => known(found[0]));
/** Of differences: a significant one before the others. */
const largest = (points) => valued(points).sort((a, b) => a.hollow - b.hollow || Math.abs(b.found[0]) - Math.abs(a.found[0]))[0];
/** The lowest and the highest of some points in words, or the largest significant of some differences, and how many. */
function summary({ words: { said }, brief, minus }, points) {
  const found = valued(points).sort((a, b) => a.found[0] - b.found[0]), first = largest(points);
  if (!first) return said.nothing;
  const tested = points.filter(({ found }) => known(found[4])), significant = tested.filter(({ hollow }) => !hollow).length;
  const template = !minus ? "range" : significant ? "some" : tested.length ? "none" : "untested";
  return fill(said[template], { brief, minus, low: found[0].words, high: found.at(-1).words, words: first.words, n: first.found[3], count: tested.length, significant });
}

/** Points in columns: a level along the axis each, or a series if there is one. */
function columns({ study: { series, factors, names: labels }, free }, points, y) {
  const used = (factor) => factors[factor].filter((level) => points.some(({ arm }) => arm.at[factor] === level));
  const factor = free && used(free).length > 1 ? free : series, names = used(factor), beside = used(series);
  const aside = ({ at }) => (factor === free ? (beside.indexOf(at[series]) - (beside.length - 1) / 2) * Math.min(0.8 / beside.length, 0.2) : 0);
  const placed = points.map((one) => ({ ...one, x: names.indexOf(one.arm.at[factor]) + aside(one.arm) }));
  return { x: { label: labels[factor], names }, y, points: placed };
}

/** The points of two columns of an arm's training, where both were measured. */
function course(c, arm, y, x, { [x]: xs = [], [y]: ys = [] }) {
  return valued(xs.map((place, i) => point(c, arm, [known(place) && ys[i]], { x: place })));
}

const PICTURES = {
  values(c) {
    const points = atEnd(c);
    return { charts: [columns(c, points, c.y)], said: summary(c, points) };
  },
  loss(c) {
    const { study, metric, words, choice } = c, [means, minus] = study.equal[metric][choice.level / 10], mean = (arm) => means[study.arms.indexOf(arm)];
    const points = compared(c, (arm) => mean(arm).slice(0, 4), minus), followed = select(study, choice), level = followed.map((arm) => mean(arm)[4]).find(known);
    const dotted = ({ px, top, bottom }) => straight(px(level), top, px(level), bottom, { class: "level" });
    const paths = followed.flatMap((arm) => course(c, arm, metric, "val_loss", arm.along)), x = { label: words.axes.loss, backwards: true };
    return {
      charts: [{ x, y: { label: c.label, also: c.also }, points: paths, line: true, more: known(level) && dotted }, columns(c, points, c.y)],
      said: fill(words.said.level, { level: digits(level), rest: summary(c, points) }),
    };
  },
  through(c) {
    const { study, metric, arms, label: shown, choice: { x } } = c, label = study.names[x] ?? x;
    const points = arms.flatMap((arm) => {
      const before = course(c, arm, metric, x, arm.along);
      if (x === "iteration") return before;
      const [place, low, high] = arm.end[x];
      return [...before.slice(0, -1), point(c, arm, arm.end[metric], { x: place, ends: [low, high] })];
    });
    const said = fill(c.words.said.through, { brief: c.brief, x: short(label), count: arms.length });
    return { charts: [{ x: { label, backwards: x === "val_loss" }, y: { label: shown }, points, line: true }], said };
  },
  ulp(c) {
    const { metric, label } = c, arms = c.arms.filter((arm) => arm.moved[metric]), what = "after one bit";
    const moved = arms.map((arm) => point(c, arm, arm.moved[metric][0], { singles: arm.moved[metric][1], what }));
    const seeds = arms.map((arm) => point(c, arm, arm.end[metric], { hollow: true, what: "another seed" }));
    return { charts: [columns(c, [...seeds, ...moved], { label, log: true })], said: summary(c, moved) };
  },
  drift(c) {
    const { metric, words, choice: { step }, options } = c, y = { label: fill(words.axes.drift, c), log: true };
    const points = c.arms.flatMap((arm) => course(c, arm, metric, "iteration", arm.drift));
    const until = options.step.indexOf(step) + 1;
    return { charts: [{ x: { label: "iteration" }, y, points, line: true, until }], said: fill(words.said.drift, { rest: summary(c, points.filter(({ x }) => String(x) === step)) }) };
  },
  bend(c) {
    const { study, words, choice, options } = c, { bend } = choice, x = { label: words.axes.bend, names: options.bend };
    const arms = options.bend.map((beta) => inside(study, choice).find(({ corner }) => String(corner) === beta));
    const dots = (label, log, read) => ({ x, y: { label, log }, points: arms.map((arm, place) => {
      const [found, singles] = read(arm);
      return { ...point(c, arm, found, { hollow: String(arm.corner) !== bend, singles }), x: place };
    }) });
    const curve = ({ px, py }) => { // of SmeLU: a parabola from -beta to beta
      const [start, left, corner, right, end] = [[-2, 0], [-bend, 0], [0, 0], [bend, bend], [2, 2]].map(([a, b]) => [px(a), py(b)]);
      return path({ colour: "currentColor" }, `M${start}L${left}Q${corner} ${right}L${end}`);
    };
    const frame = { x: { label: "x", also: [-2, 2] }, y: { label: "f(x)", also: [0, 2] }, points: [], more: curve };
    const apart = dots(c.label, true, (arm) => arm.moved[c.metric]), loss = dots(study.names.val_loss, false, (arm) => [arm.end.val_loss]);
    const [one, two] = [apart, loss].map(({ points }) => points[options.bend.indexOf(bend)].words);
    return { charts: [frame, apart, loss], said: fill(words.said.bend, { bend, one, two }) };
  },
  two(c) {
    const { study, metric, arms, words } = c, [a, b] = arms, names = ["A", "B", "B minus A"];
    const found = (name) => [...arms.map((arm) => arm.end[name]), difference(study, study.end[name], b, a)];
    const singles = arms.map((arm) => arm.singles[metric]), [one, two] = singles, estimates = found(metric);
    const points = arms.map((arm, x) => ({ ...point({ name: named }, arm, estimates[x], { singles: singles[x] }), x }));
    const joined = ({ px, py }) => svg("g", { class: "grid" }, ...one.flatMap((value, i) =>
      (known(value) && known(two[i]) ? [straight(px(0.06), py(value), px(0.94), py(two[i]))] : [])));
    return {
      charts: [{ x: { label: `A: ${named(a)}; B: ${named(b)}`, names: names.slice(0, 2) }, y: { label: c.label }, points, more: a.labels.join() === b.labels.join() && joined }],
      rows: Object.keys(study.metrics).flatMap((name) => found(name).map((estimate, i) => [study.names[name], names[i], ...estimate])),
      said: fill(words.said.two, { brief: c.brief, words: told(estimates[2], true), p: digits(estimates[2][4], 2) }),
    };
  },
  texts({ study: { texts }, words }) {
    const part = ([text, same]) => (same ? text : html("mark", {}, text));
    const page = ([title, parts]) => html("div", { className: "text" }, html("b", {}, title), html("pre", {}, ...parts.map(part)));
    return { nodes: texts.flatMap((one) => one.texts.map(page)), said: fill(words.said.texts, texts[0]) };
  },
};

/** The same numbers in Python: the call of the package that gives them. */
function code({ study, choice, words, metric, minus, arms: [a, b] }) {
  const list = (names) => JSON.stringify(names).replaceAll(",", ", "), { cells, series, metrics } = study, two = choice.view === "two";
  const factor = two ? Object.keys(a.at).find((name) => a.at[name] !== b.at[name]) : series;
  const varied = cells.includes(factor) ? factor : "setting", level = two ? (a.at[varied] ?? a.setting) : minus;
  const about = {
    study: list(choice.study), metric: list(metric), table: metrics[metric].pairs ? "pairs" : "trials", share: choice.level / 100, series: list(varied),
    all: list(cells), by: list(cells.filter((name) => name !== varied)), steps: list([...cells, "iteration"]), minus: Number(level) ? level : list(level),
  };
  return fill(words.code[choice.view + (minus && " minus")], about);
}
