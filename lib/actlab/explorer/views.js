// What each picture shows, of a context (see `context`): {charts or node, said, rows}.
// Every estimate comes with the catalogue; here it is looked up.

const at = (columns, i) => columns.map((column) => column[i] ?? null);
const mean = ({ arms }, block, arm) => at(block.mean, arms.indexOf(arm));

/** An arm minus another of those that differ from it in one factor: [value, low, high, n, Holm's p]. */
function difference({ arms, pairs }, block, arm, other) {
  const [i, j] = [arm, other].map((one) => arms.indexOf(one));
  const place = pairs.findIndex((pair) => pair.includes(i) && pair.includes(j)), turned = Number(pairs[place]?.[0] !== i);
  const [value, half, n, ...p] = at(block.minus, place), middle = known(value) ? (1 - 2 * turned) * value : null;
  return [middle, ...[-half, half].map((reach) => (known(half) ? Number((middle + reach).toPrecision(6)) : null)), n, p[turned]];
}

/** What all pictures ask of the catalogue and the choice. */
function context({ studies, words }, [choice, options], width) {
  const study = studies[choice.study], { metric, view, along, x } = choice, { label, note } = study.metrics[metric], { series } = study;
  const has = (name) => words.menus[view].includes(name), free = has("along") && options[along].length > 1 && along;
  const minus = has("minus") && choice.minus !== "none" ? choice.minus : "", of = minus ? { level: minus } : {};
  const arms = view === "two" ? [choice.a, choice.b].map((name) => study.arms.find((arm) => arm.key === name))
    : select(study, choice, free).filter((arm) => arm !== twin(study, arm, minus));
  const name = ({ at }) => at[series] + (free ? ` (${study.factors[along].label} ${at[along]})` : "");
  const title = minus ? fill(words.axes.difference, { label, minus }) : label;
  return { study, words, choice, options, width, metric, note, minus, arms, free, name, label, title, brief: short(label) };
}

/** A mark: an arm's estimate, in words too. */
function point({ name }, arm, found, more = {}) {
  const words = `${name(arm)} ${told(found, more.signed)}${arm.ended}${known(more.x) ? ` at ${digits(more.x)}` : ""}`;
  return { arm, found, words, ...more };
}

/** The arms at one moment, each with its mean, or its difference from a level of the series. */
function compared(c, block, singles) {
  const { study, metric, minus } = c;
  return c.arms.map((arm) => {
    if (!minus) return point(c, arm, mean(study, block, arm), { singles: singles && arm.singles[metric] });
    const found = difference(study, block, arm, twin(study, arm, minus)), p = found[4];
    return point(c, arm, found, { signed: true, p, hollow: !(p < 0.05) });
  });
}

/** The lowest and the highest of some points in words, or what is significant of some differences. */
function summary({ words: { said }, brief, minus }, points) {
  const found = points.filter((one) => known(one.found[0])).sort((a, b) => a.found[0] - b.found[0]);
  if (!found.length) return said.nothing;
  const about = { brief, minus, low: found[0].words, high: found.at(-1).words }, size = (one) => Math.abs(one.found[0]);
  const tested = found.filter(({ p }) => known(p)), significant = tested.filter(({ hollow }) => !hollow);
  const [first] = (significant.length ? significant : found).sort((a, b) => size(b) - size(a));
  const template = !minus ? "range" : significant.length ? "some" : tested.length ? "none" : "untested";
  return fill(said[template], { ...about, count: tested.length, significant: significant.length, words: first.words, n: first.found[3] });
}

/** Points in columns: a level along the axis each, or a series if there is one. */
function columns({ study: { series, factors }, free }, points, y) {
  const used = factors[series].levels.filter((level) => points.some(({ arm }) => arm.at[series] === level));
  const factor = free && new Set(points.map(({ arm }) => arm.at[free])).size > 1 ? free : series, names = factor === free ? factors[free].levels : used;
  const aside = (level) => (factor === free ? (used.indexOf(level) - (used.length - 1) / 2) * Math.min(0.8 / used.length, 0.2) : 0);
  const placed = points.map((one) => ({ ...one, x: names.indexOf(one.arm.at[factor]) + aside(one.arm.at[series]) }));
  return { x: { label: factors[factor].label, names }, y, points: placed };
}

/** The points of two columns of an arm's training. */
function course(c, arm, x, y) {
  const { [x]: xs = [], [y]: ys = [] } = x === "iteration" && arm.history[y] ? arm.history : arm.along;
  return xs.map((place, i) => point(c, arm, [ys[i]], { x: place })).filter(({ found }) => known(found[0]));
}

const PICTURES = {
  values(c) {
    const points = compared(c, c.study.end[c.metric], true);
    return { charts: [columns(c, points, { label: c.title, zero: c.minus })], said: summary(c, points) };
  },
  loss(c) {
    const { study, metric, words, choice } = c, block = study.equal[metric][choice.level / 10], points = compared(c, block);
    const followed = select(study, choice), level = followed.map((arm) => mean(study, block, arm)[4]).find(known);
    const dotted = ({ px, top, bottom }) => straight(px(level), top, px(level), bottom, { class: "level" });
    const paths = followed.flatMap((arm) => course(c, arm, "val_loss", metric)), x = { label: words.axes.loss, backwards: true };
    return {
      charts: [{ x, y: { label: c.label }, points: paths, line: true, more: known(level) && dotted }, columns(c, points, { label: c.title, zero: c.minus })],
      said: fill(words.said.level, { level: digits(level), rest: summary(c, points) }),
    };
  },
  through(c) {
    const { study, metric, arms, choice: { x } } = c, label = study.metrics[x]?.label ?? x;
    const points = arms.flatMap((arm) => {
      const made = course(c, arm, x, metric);
      if (x === "iteration") return made;
      const [[place, ...ends], found] = [x, metric].map((name) => mean(study, study.end[name], arm));
      return [...made.slice(0, -1), point(c, arm, found, { x: place, ends })];
    });
    const said = fill(c.words.said.through, { brief: c.brief, x: short(label), count: arms.length });
    return { charts: [{ x: { label, backwards: x === "val_loss" }, y: { label: c.label }, points, line: true }], said };
  },
  ulp(c) {
    const { study, metric, label } = c, arms = c.arms.filter((arm) => arm.moved[metric]), what = "after one ULP";
    const moved = arms.map((arm) => point(c, arm, arm.moved[metric][0], { singles: arm.moved[metric][1], what }));
    const seeds = arms.map((arm) => point(c, arm, mean(study, study.end[metric], arm), { hollow: true, what: "another seed" }));
    return { charts: [columns(c, [...seeds, ...moved], { label, log: true })], said: summary(c, moved) };
  },
  drift(c) {
    const { metric, words, choice: { step }, options } = c, arms = c.arms.filter((arm) => arm.drift[metric]), label = fill(words.axes.drift, c);
    const points = arms.flatMap((arm) => arm.drift[metric][0].map((x, i) => point(c, arm, [arm.drift[metric][1][i]], { x })));
    const rest = points.filter(({ x }) => String(x) === step).map((one) => one.words).join(", ");
    const chart = { x: { label: "iteration" }, y: { label, log: true }, points, line: true, until: options.step.indexOf(step) + 1 };
    return { charts: [chart], said: arms.length ? fill(words.said.drift, { label, rest }) : words.said.nothing };
  },
  bend(c) {
    const { study, words, choice, options } = c, { bend } = choice, arms = inside(study, choice), x = { label: words.axes.bend, names: options.bend };
    const dots = (label, log, read) => ({ x, y: { label, log }, points: options.bend.map((beta, place) => {
      const arm = arms.find(({ corner }) => String(corner) === beta), [found, singles] = read(arm);
      return { ...point(c, arm, found, { hollow: beta !== bend, singles }), x: place };
    }) });
    const curve = ({ px, py }) => { // of SmeLU: a parabola from -beta to beta
      const [start, left, corner, right, end] = [[-2, 0], [-bend, 0], [0, 0], [bend, bend], [2, 2]].map(([a, b]) => `${px(a)},${py(b)}`);
      return path({ colour: "currentColor" }, `M${start}L${left}Q${corner} ${right}L${end}`);
    };
    const frame = { x: { label: "x" }, y: { label: "f(x)" }, points: [-2, 2].map((end) => ({ x: end, found: [Math.max(end, 0)] })), more: curve };
    const apart = dots(c.label, true, (arm) => arm.moved[c.metric]), loss = dots(study.metrics.val_loss.label, false, (arm) => [mean(study, study.end.val_loss, arm)]);
    const [one, two] = [apart, loss].map(({ points }) => points.find(({ hollow }) => !hollow).words);
    return { charts: [frame, apart, loss], said: fill(words.said.bend, { bend, one, two }) };
  },
  two(c) {
    const { study, metric, arms } = c, [a, b] = arms;
    const found = (name) => [...arms.map((arm) => mean(study, study.end[name], arm)), difference(study, study.end[name], b, a)];
    const [one, two] = arms.map((arm) => arm.singles[metric]), estimates = found(metric), names = ["A", "B", "B minus A"];
    const points = arms.map((arm, x) => ({ ...point({ name: named }, arm, estimates[x], { singles: arm.singles[metric] }), x }));
    const joined = ({ px, py }) => svg("g", { class: "grid" }, ...one.flatMap((value, i) =>
      (known(value) && known(two[i]) ? [straight(px(0.06), py(value), px(0.94), py(two[i]))] : [])));
    return {
      charts: [{ x: { label: `A: ${named(a)}; B: ${named(b)}`, names: names.slice(0, 2) }, y: { label: c.label }, points, more: a.labels.join() === b.labels.join() && joined }],
      rows: Object.keys(study.metrics).flatMap((name) => found(name).map((estimate, i) => [study.metrics[name].label, names[i], ...estimate])),
      said: fill(c.words.said.two, { brief: c.brief, words: told(estimates[2], true) }),
    };
  },
  texts({ study: { texts }, words }) {
    const part = ([text, same]) => (same ? text : html("mark", {}, text)), [first] = texts;
    const page = (title, parts) => html("div", { class: "text" }, html("b", {}, title), html("pre", {}, ...parts.map(part)));
    const node = html("div", { class: "row" }, ...texts.flatMap(({ titles, parts }) => titles.map((title, i) => page(title, parts[i]))));
    return { node, rows: [], said: fill(words.said.texts, first) };
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
