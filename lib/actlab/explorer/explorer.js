// The explorer: menus, pictures and a table over recorded studies, on the published page and in a live notebook.
// In three parts: numbers (the rules of actlab.statistics; tests hold both equal), pictures, and the program.

// ---- Numbers. An estimate is [value, low, high, n]; null is what no record has.

const known = (value) => value !== null && value !== undefined && !Number.isNaN(value);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const key = (arm) => Object.values(arm.at).join("/");

/** Where the pair (i, j) of m trials stands in their upper triangle, row by row. */
const place = (m, i, j) => (i > j ? place(m, j, i) : i * m - (i * (i + 1)) / 2 + j - i - 1);

/** The mean over some seeds of single values: one a trial, or one a pair of trials. */
function over(labels, singles, pairs, seeds) {
  const at = seeds.map((seed) => labels.indexOf(seed));
  const pair = (i, k) => at.slice(k + 1).map((j) => singles[place(labels.length, i, j)]);
  return mean(pairs ? at.flatMap(pair) : at.map((i) => singles[i]));
}

/** The seeds of an arm that have a value. */
function seedsOf({ labels, singles }, metric, pairs) {
  const value = (i, j) => singles[metric][pairs ? place(labels.length, i, j) : i];
  return labels.filter((_, i) => labels.some((_, j) => (i !== j || !pairs) && known(value(i, j))));
}

/** A value with the t interval of the values without one seed each (means.jackknifed); none where one is missing. */
function jackknifed(value, left, t) {
  const n = left.length, middle = mean(left);
  const reach = t[n - 1] * Math.sqrt(((n - 1) / n) * left.reduce((sum, one) => sum + (one - middle) ** 2, 0));
  if (!known(value)) return [null, null, null, n];
  return left.every(known) && known(reach) ? [value, value - reach, value + reach, n] : [value, null, null, n];
}

/** An arm's mean of a metric, or its difference from another arm, paired by seed (ArmResults.shown and .minus). */
function estimate({ metrics, t }, arm, metric, other) {
  const { pairs } = metrics[metric], read = (one, seeds) => over(one.labels, one.singles[metric], pairs, seeds);
  const value = (seeds) => read(arm, seeds) - (other ? read(other, seeds) : 0);
  const shared = other ? seedsOf(other, metric, pairs) : null;
  const seeds = seedsOf(arm, metric, pairs).filter((seed) => !shared || shared.includes(seed));
  const found = jackknifed(value(seeds), seeds.map((seed) => value(seeds.filter((one) => one !== seed))), t);
  return pairs && !other ? aboveZero(found, arm.singles[metric].filter(known)) : found;
}

/** The interval of a mean over pairs on a logarithmic scale; none where too few trials differ (means.few_differ). */
function aboveZero([value, low, high, n], singles) {
  const sorted = [...singles].sort((a, b) => a - b), top = sorted.at(-1);
  const different = 1 + sorted.filter((one, i) => i && one - sorted[i - 1] > 1e-9 * top).length;
  const few = n > 2 && top > 0 && (different < n || sorted.filter((one) => one === 0).length >= sorted.length / 2);
  if (few || low === null) return [value, null, null, n];
  const reach = value > 0 ? Math.exp((high - low) / 2 / value) : 1;
  return [value, value / reach, value * reach, n];
}

/** The means of what was measured in training, one an evaluation, over some seeds. */
function means({ labels, snapshots }, name, seeds) {
  const pairs = name !== "val_loss";
  return name === "iteration" ? snapshots[name] : snapshots[name].map((row) => over(labels, row, pairs, seeds));
}

/** The seeds that have their loss at every evaluation, in all of these arms. */
function complete(arms) {
  const whole = (arm, seed) => arm.snapshots.val_loss.every((row) => known(row[arm.labels.indexOf(seed)]));
  return arms[0].labels.filter((seed) => arms.every((arm) => whole(arm, seed)));
}

/** The values where the losses first come down to a level; null: they begin below, or never do. */
function readAt(losses, values, level) {
  const after = losses.findIndex((loss) => loss <= level);
  if (after < 0 || losses[0] < level) return null;
  const share = after && (level - losses[after]) / (losses[after - 1] - losses[after]);
  return after ? values[after] + share * (values[after - 1] - values[after]) : values[0];
}

/** Arms at one loss, a share of the way from the lowest that all reach to the first (statistics.equal_loss). */
function atEqualLoss({ t }, arms, metric, earlier, reference) {
  const seeds = complete(arms), minus = arms.indexOf(reference);
  const read = (some) => {
    const losses = arms.map((arm) => means(arm, "val_loss", some));
    const last = Math.max(...losses.map((one) => one.at(-1)));
    const level = earlier ? last + earlier * (Math.min(...losses.map(([first]) => first)) - last) : last;
    const values = arms.map((arm, i) => (some.length > 1 ? readAt(losses[i], means(arm, metric, some), level) : null));
    return { level, values: values.map((value) => (reference && known(value) ? value - values[minus] : value)) };
  };
  const { level, values } = read(seeds), left = seeds.map((seed) => read(seeds.filter((one) => one !== seed)).values);
  return { level, estimates: values.map((value, i) => jackknifed(value, left.map((one) => one[i]), t)) };
}

// ---- Words and elements.

const digits = (value, n = 4) => (known(value) ? String(Number(value.toPrecision(n))) : "none");
const capital = (text) => text[0].toUpperCase() + text.slice(1);
/** A label without its unit, for sentences. */
const short = (label) => label.replace(/ \([^)]*\)/, "");
const named = (arm) => Object.values(arm.at).join(", ");
const ended = ({ not_done }) => (not_done.length ? ` (${not_done.join(", ")})` : "");

/** An estimate in words: its significant digits, and the interval to the same decimal place. */
function told([value, low, high, n], minus = "") {
  if (!known(value)) return `no value, n = ${n}`;
  const places = Math.max(0, (minus ? 2 : 3) - Math.floor(Math.log10(Math.abs(value))));
  const exact = (number) => (places <= 6 ? number.toFixed(places) : digits(number, 2));
  const shown = (number) => (minus && number > 0 ? "+" : "") + exact(number);
  return `${shown(value)} [${low === null ? "no interval" : `${shown(low)}, ${shown(high)}`}], n = ${n}`;
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) if (known(value)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
const html = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

function table(header, rows, caption) {
  const cell = (value) => html("td", {}, typeof value === "number" ? digits(value, 6) : (value ?? "none"));
  return html("table", { class: "table" }, html("caption", {}, caption),
    html("thead", {}, html("tr", {}, ...header.map((name) => html("th", { scope: "col" }, name)))),
    html("tbody", {}, ...rows.map((row) => html("tr", {}, ...row.map(cell)))));
}

/** RFC 4180. */
function csv(lines) {
  const field = (value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  return lines.map((cells) => cells.map((cell) => field(String(cell ?? ""))).join(",") + "\r\n").join("");
}

function download(name, text) {
  const href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  html("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}

// ---- Pictures.

const SHAPES = {
  o: "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z", s: "M-3.6,-3.6H3.6V3.6H-3.6Z", D: "M0,-5L5,0L0,5L-5,0Z",
  d: "M0,-5L3,0L0,5L-3,0Z", "^": "M0,-4.6L4.4,3.4H-4.4Z", v: "M0,4.6L4.4,-3.4H-4.4Z", "<": "M-4.6,0L3.4,4.4V-4.4Z",
  ">": "M4.6,0L-3.4,4.4V-4.4Z", p: "M0,-4.8L4.6,-1.5L2.8,3.9H-2.8L-4.6,-1.5Z",
  h: "M0,-4.6L4,-2.3V2.3L0,4.6L-4,2.3V-2.3Z",
  P: "M-1.6,-4.6H1.6V-1.6H4.6V1.6H1.6V4.6H-1.6V1.6H-4.6V-1.6H-1.6Z",
  X: "M-4.6,-3L-3,-4.6L0,-1.6L3,-4.6L4.6,-3L1.6,0L4.6,3L3,4.6L0,1.6L-3,4.6L-4.6,3L-1.6,0Z",
};
/** Black is the page's own ink, so that it shows on a dark page too. */
const ink = ({ colour }) => (colour === "#000000" ? "currentColor" : colour);
const straight = (x1, y1, x2, y2, more) => svg("line", { x1, y1, x2, y2, ...more });

function shape(style, x, y, hollow) {
  const paint = hollow ? { fill: "none", "stroke-width": 1.4 } : { fill: ink(style), "stroke-width": 0 };
  return svg("path", { d: SHAPES[style.marker] ?? SHAPES.o, transform: `translate(${x},${y})`, stroke: ink(style), ...paint });
}

function path(style, points) {
  const d = points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");
  const dashes = style.dashes[1] ? style.dashes.map((n) => 2 * n).join(" ") : null;
  return svg("path", { d, fill: "none", stroke: ink(style), "stroke-width": 1.8, "stroke-dasharray": dashes });
}

/** About `count` round numbers, or the powers of ten, between two numbers. */
function ticks([low, high], log, count = 5) {
  if (log) return Array.from({ length: Math.round(Math.log10(high / low)) + 1 }, (_, i) => low * 10 ** i);
  const rough = (high - low) / count || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const first = Math.ceil(low / step - 1e-9), length = Math.max(0, Math.floor(high / step + 1e-9) - first + 1);
  return Array.from({ length }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** The range of some numbers, a little wider, or between powers of ten; [0, 1] where there are none. */
function range(values, log = false) {
  const found = values.filter((value) => known(value) && (!log || value > 0));
  if (!found.length) return log ? [0.1, 1] : [0, 1];
  const low = Math.min(...found), high = Math.max(...found), more = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
  if (log) return [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high))];
  return [low >= 0 && low < more ? 0 : low - more, high + more];
}

/** A frame with axes {domain, label, ticks: [[value, text]], log, backwards}: the element, its scales and its inside. */
function frame({ width, height = 330, x, y, says }) {
  const tilt = x.ticks && Math.max(...x.ticks.map(([, text]) => text.length)) * 7.5 > (width - 72) / x.ticks.length;
  const inside = { left: 58, right: width - 14, top: 24, bottom: height - (tilt ? 96 : 46) };
  const scale = ({ domain, log, backwards }, from, to) => {
    const [low, high] = (backwards ? [...domain].reverse() : domain).map((one) => (log ? Math.log10(one) : one));
    return (value) => from + (((log ? Math.log10(value) : value) - low) / (high - low)) * (to - from);
  };
  const px = scale(x, inside.left, inside.right), py = scale(y, inside.bottom, inside.top);
  const node = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": says });
  for (const value of ticks(y.domain, y.log)) {
    const text = y.log ? value.toExponential(0).replace("e+0", "") : digits(value);
    node.append(straight(inside.left, py(value), inside.right, py(value), { class: value ? "grid" : "axis" }),
      svg("text", { x: inside.left - 6, y: py(value) + 4, "text-anchor": "end" }, text));
  }
  node.append(straight(inside.left, inside.bottom, inside.right, inside.bottom, { class: "axis" }));
  const numbers = () => ticks(x.domain, false, Math.max(2, Math.min(6, width / 90))).map((one) => [one, digits(one)]);
  for (const [value, text] of x.ticks ?? numbers()) {
    const turned = `translate(${px(value) + (tilt ? 4 : 0)},${inside.bottom + 15})${tilt ? " rotate(-38)" : ""}`;
    node.append(svg("text", { transform: turned, "text-anchor": tilt ? "end" : "middle" }, text));
  }
  const middle = { x: (inside.left + inside.right) / 2, y: height - 6, "text-anchor": "middle" };
  node.append(svg("text", middle, x.label), svg("text", { x: 4, y: 13 }, y.label));
  return { node, px, py, inside };
}

/** A mark that says its numbers on hover and on focus, with its interval and the single values beside it. */
function mark(chart, style, x, [value, low, high], words, { singles = [], hollow = false } = {}) {
  const group = svg("g", { class: "arm", role: "img", tabindex: -1, "aria-label": words });
  const y = (one) => Math.min(chart.py(one), chart.inside.bottom); // an exact 0 on a logarithmic axis
  const dot = (one) => svg("circle", { class: "single", cx: x + 6, cy: y(one), r: 1.8, fill: ink(style) });
  group.append(...singles.filter(known).map(dot));
  if (known(low)) group.append(straight(x, y(low), x, y(high), { stroke: ink(style), "stroke-width": 1.6 }));
  if (known(value)) group.append(svg("circle", { cx: x, cy: y(value), r: 9, fill: "transparent" }), shape(style, x, y(value), hollow));
  chart.node.append(group);
}

/** Entries {arm, found, words, singles, floor} in columns: a level along the axis each, or a series if there is one. */
function columns({ study, choice, styles, width }, entries, y) {
  const { series } = study, along = study.factors[choice.along].levels;
  const used = study.factors[series].levels.filter((level) => entries.some(({ arm }) => arm.at[series] === level));
  const alone = choice.view === "loss" || new Set(entries.map(({ arm }) => arm.at[choice.along])).size < 2;
  const factor = alone ? series : choice.along, names = alone ? used : along, step = Math.min(0.8 / used.length, 0.2);
  const values = entries.flatMap(({ found, singles, floor = [] }) => [found, singles ?? [], floor].map((one) => one.slice(0, 3)));
  const domain = range([...values.flat(), ...entries.flatMap(({ singles }) => singles ?? []), ...(y.zero ? [0] : [])], y.log);
  const ends = [-0.5, Math.max(names.length, 1) - 0.5], says = `${y.label}; the numbers are in the table`;
  const x = { domain: ends, label: study.factors[factor].label, ticks: names.map((name, i) => [i, name]) };
  const chart = frame({ width, x, y: { ...y, domain }, says });
  for (const { arm, found, words, floor, singles, p } of entries) {
    const aside = alone ? 0 : (used.indexOf(arm.at[series]) - (used.length - 1) / 2) * step;
    const place = chart.px(names.indexOf(arm.at[factor]) + aside), style = styles[arm.at[series]];
    if (floor) mark(chart, style, place, floor, words, { hollow: true });
    mark(chart, style, place, found, words, { singles, hollow: p >= 0.05 });
  }
  return chart.node;
}

/** Lines {arm, points: [[x, y]], ends: [x estimate, y estimate] of the last point} of one metric against another. */
function lines({ study, styles, width }, found, x, y) {
  const all = found.flatMap(({ points, ends }) => [...points, ...(ends ? [1, 2].map((i) => ends.map((one) => one[i])) : [])]);
  const axis = (i, about) => ({ ...about, domain: range(all.map((point) => point[i])) });
  const says = `${y.label} against ${x.label}; the numbers are in the table`;
  const chart = frame({ width, x: axis(0, x), y: axis(1, y), says });
  for (const { arm, points, ends } of found) {
    const name = arm.at[study.series], style = styles[name], at = ([a, b]) => [chart.px(a), chart.py(b)];
    chart.node.append(path(style, points.map(at)));
    if (ends && known(ends[0][1])) {
      const [low, high] = [1, 2].map((i) => chart.px(ends[0][i])), height = chart.py(ends[1][0]);
      chart.node.append(straight(low, height, high, height, { stroke: ink(style), "stroke-width": 1.6 }));
    }
    points.forEach(([a, b], i) => {
      const last = ends && i === points.length - 1, words = `${name}: ${short(x.label)} ${digits(a)}, ${short(y.label)} ${digits(b)}`;
      mark(chart, style, chart.px(a), last ? ends[1] : [b], words);
    });
  }
  return chart;
}

/** Two arms side by side: every seed, or pair of seeds, that both have as a line. */
function slopes({ study, styles, width }, arms, metric, found) {
  const { label } = study.metrics[metric], singles = arms.map((arm) => arm.singles[metric]);
  const y = { label, domain: range([...singles.flat(), ...found.flatMap((one) => one.slice(0, 3))]) };
  const x = { domain: [-0.5, 1.5], label: "", ticks: arms.map((arm, i) => [i, width > 560 ? `${"AB"[i]}: ${named(arm)}` : "AB"[i]]) };
  const chart = frame({ width: Math.min(width, 620), x, y, says: `${label} of two configurations; the numbers are in the table` });
  singles[0].forEach((one, i) => {
    if (arms[0].labels.join() !== arms[1].labels.join() || !known(one) || !known(singles[1][i])) return;
    chart.node.append(straight(chart.px(0.06), chart.py(one), chart.px(0.94), chart.py(singles[1][i]), { class: "grid" }));
  });
  arms.forEach((arm, i) => {
    const style = styles[arm.at[study.series]], words = `${named(arm)}: ${told(found[i])}`;
    mark(chart, style, chart.px(i), found[i], words, { singles: singles[i] });
  });
  return chart.node;
}

// ---- The choice: what is shown. The page's address holds it after #, as key=value&key=value (explorer/catalogue.py).

const VIEWS = {
  values: "at the end of training", through: "one metric against another", loss: "at equal loss",
  ulp: "smallest perturbation", two: "two configurations",
};
const others = (study) => Object.keys(study.factors).filter((name) => name !== study.series);
const followed = (study) => Object.keys(study.arms.find((arm) => arm.snapshots)?.snapshots ?? {}).slice(2);
/** The arm that differs from another in the series alone. */
const twin = (study, arm, level) => study.arms.find((one) =>
  one.at[study.series] === level && others(study).every((name) => one.at[name] === arm.at[name]));

function views(study) {
  const ulp = study.arms.some((arm) => Object.keys(arm.moved).length);
  const has = { loss: followed(study).length, ulp, two: study.arms.length > 1 };
  return Object.keys(VIEWS).filter((name) => has[name] ?? true);
}

/** The metrics that a picture can show. */
function metrics(study, view) {
  const all = Object.keys(study.metrics);
  return { loss: followed(study), ulp: all.filter((name) => study.metrics[name].pairs) }[view] ?? all;
}

/** A whole choice from parts of one; what does not fit gets its default, for links outlive records. */
function choose({ studies }, wanted) {
  const one = (value, levels, usual = levels[0]) => (levels.includes(value) ? value : usual);
  const name = one(wanted.study, Object.keys(studies)), study = studies[name], view = one(wanted.view, views(study), followed(study).length ? "loss" : "values");
  const all = study.factors[study.series].levels, asked = [wanted[study.series] ?? all].flat();
  const series = all.filter((level) => asked.includes(level)), reference = all.length > 1 ? one("relu", all) : "none";
  const fits = (arm) => others(study).every((factor) => !(factor in wanted) || wanted[factor] === arm.at[factor]);
  const near = study.arms.find(fits) ?? study.arms[0], arms = study.arms.map(key);
  const first = twin(study, near, study.reference) ?? near;
  const second = study.arms.find((arm) => arm !== first && twin(study, arm, first.at[study.series]) === first);
  return {
    study: name, view,
    metric: one(wanted.metric, metrics(study, view)),
    minus: one(wanted.minus, ["none", ...all], reference),
    x: one(wanted.x, ["iteration", ...Object.keys(study.metrics)], "val_loss"),
    along: one(wanted.along, others(study)),
    level: Math.min(90, Math.max(0, Number(wanted.level) || 0)),
    a: one(wanted.a, arms, key(first)), b: one(wanted.b, arms, second ? key(second) : arms.at(-1)),
    ...Object.fromEntries(others(study).map((f) => [f, one(wanted[f], study.factors[f].levels, near.at[f])])),
    [study.series]: series.length || asked.every((level) => !level) ? series : all,
  };
}

function fromHash(hash) {
  const found = Object.fromEntries(new URLSearchParams(hash.slice(1)));
  for (const [name, value] of Object.entries(found)) if (value.includes(",")) found[name] = value.split(",");
  return found;
}

/** The study, and all that differs from its defaults. */
function toHash(catalogue, choice) {
  const usual = { ...choose(catalogue, { study: choice.study, view: choice.view }), study: "", view: choose(catalogue, { study: choice.study }).view };
  const kept = Object.entries(choice).filter(([name, value]) => String(value) !== String(usual[name]));
  return `#${new URLSearchParams(kept)}`.replaceAll("%2C", ",").replaceAll("%2F", "/");
}

/** The arms of a choice: of the factor along the axis every level, of the others the chosen one. */
function select(study, choice) {
  const free = ["values", "ulp"].includes(choice.view) ? choice.along : "", { series } = study;
  const fits = (arm) => others(study).every((name) => name === free || arm.at[name] === choice[name]);
  return study.arms.filter((arm) => choice[series].includes(arm.at[series]) && fits(arm));
}

// ---- What each picture shows: {node, said, caption, header, rows, code}.

const HOLLOW = "; hollow: not significant after Holm's correction over the study";
const EXACT = ["value", "low", "high", "n"];

/** An arm among those of a picture: its series, and its level along the axis. */
function among({ study, choice }, { at }) {
  const { label, levels } = study.factors[choice.along], free = ["values", "ulp"].includes(choice.view) && levels.length > 1;
  return at[study.series] + (free ? ` (${label} ${at[choice.along]})` : "");
}

const labels = (study, [x, y], minus) => [study.metrics[x]?.label ?? x, study.metrics[y].label + (minus && ` minus ${minus}'s`)];

/** The lowest and the highest of some entries in words, or the largest difference. */
function summary(entries, label, minus = "") {
  const found = entries.filter((one) => known(one.found[0])).sort((a, b) => a.found[0] - b.found[0]);
  if (!found.length) return "Nothing is chosen, or it has no record.";
  if (!minus) return `${capital(short(label))}: lowest ${found[0].words}. Highest ${found.at(-1).words}.`;
  const sorted = found.sort((a, b) => Math.abs(b.found[0]) - Math.abs(a.found[0])), lead = `${capital(short(label))} minus ${minus}'s`;
  const tested = sorted.filter(({ p }) => known(p)), [first, ...more] = tested.filter(({ p }) => p < 0.05);
  if (!tested.length) return `${lead}: the largest difference is ${sorted[0].words}; significance is not computed for this choice.`;
  if (!first) return `${lead}: none of ${tested.length} differences is significant (Holm over the study), n = ${tested[0].found[3]}.`;
  return `${lead}: ${more.length + 1} of ${tested.length} differences significant (Holm over the study); the largest of them is ${first.words}.`;
}

const PICTURES = {
  values(c) {
    const { study, choice } = c, { metric } = choice, { label, note, pairs } = study.metrics[metric];
    const minus = choice.minus === "none" ? "" : choice.minus, other = (arm) => (minus ? twin(study, arm, minus) : null);
    const shown = select(study, choice).filter((arm) => !minus || (other(arm) && other(arm) !== arm));
    const entries = shown.map((arm) => {
      const found = estimate(study, arm, metric, other(arm));
      const p = minus === study.reference ? arm.p[metric] : null;
      return { arm, found, p, words: `${among(c, arm)} ${told(found, minus)}${ended(arm)}`, singles: minus ? [] : arm.singles[metric] };
    });
    const dots = minus ? `, paired by seed; below 0: lower than ${minus}${minus === study.reference ? HOLLOW : ""}` : `; small dots: one a ${pairs ? "pair of seeds" : "seed"}`;
    return {
      node: columns(c, entries, { label: minus ? `${label} minus ${minus}'s` : label, zero: minus }),
      said: summary(entries, label, minus),
      caption: `${capital(note)}. Marks have 95% intervals over seeds, not adjusted for their number${dots}. A gap has no record.`,
      header: [...Object.keys(study.factors), "metric", "minus", ...EXACT],
      rows: entries.map(({ arm, found }) => [...Object.values(arm.at), metric, choice.minus, ...found]),
      code: minus ? differences(study, choice, [...shown, ...shown.map(other)]) : averages(study, choice, shown, [metric]),
    };
  },
  through(c) {
    const { study, choice } = c, names = [choice.x, choice.metric], history = names.join() === "iteration,val_loss";
    const minus = choice.x === "iteration" && choice.minus !== "none" ? choice.minus : "", [x, y] = labels(study, names, minus);
    const values = (arm) => {
      if (history && arm.history) return [arm.history.iteration, arm.history.val_loss.map((row) => mean(row.filter(known)))];
      const inside = arm.snapshots && names.every((name) => name in arm.snapshots);
      return inside ? names.map((name) => means(arm, name, complete([arm]))) : [[], []];
    };
    const arms = select(study, choice).filter((arm) => !minus || (twin(study, arm, minus) ?? arm) !== arm);
    const found = arms.map((arm) => {
      const ends = choice.x === "iteration" ? null : names.map((name) => estimate(study, arm, name));
      const [xs, ys] = values(arm), from = minus ? values(twin(study, arm, minus))[1] : xs.map(() => 0);
      const points = xs.map((one, i) => [one, ys[i] - from[i]]).filter((point) => point.every(known));
      return { arm, ends, points: points.length || !ends ? points : [ends.map(([value]) => value)] };
    });
    const alone = found.filter(({ points }) => points.length < 2).length, turned = choice.x === "val_loss";
    const ends = choice.x === "iteration" ? "" : " The end has 95% intervals.";
    return {
      node: lines(c, found, { label: x, backwards: turned }, { label: y }).node,
      said: `${capital(short(y))} against ${short(x)}: ${found.length} configurations${alone ? `, ${alone} of them recorded at the end only` : ""}.`,
      caption: `Means over seeds, a mark an evaluation${turned ? "; training goes to the right" : ""}.${ends}`,
      header: [...Object.keys(study.factors), ...names],
      rows: found.flatMap(({ arm, points }) => points.map((point) => [...Object.values(arm.at), ...point])),
      code: trajectories(study, choice, arms, minus),
    };
  },
  loss(c) {
    const { study, choice } = c, { metric } = choice, { label } = study.metrics[metric];
    const arms = select(study, choice).filter((arm) => arm.snapshots);
    const reference = arms.length && choice.minus !== "none" ? twin(study, arms[0], choice.minus) : null;
    if (reference?.snapshots && !arms.includes(reference)) arms.push(reference);
    const { level, estimates } = arms.length ? atEqualLoss(study, arms, metric, choice.level / 100, reference) : {};
    const points = (arm) => ["val_loss", metric].map((name) => means(arm, name, complete([arm])));
    const paths = arms.map((arm) => ({ arm, points: points(arm)[0].map((a, i) => [a, points(arm)[1][i]]) }));
    const part = c.width > 720 ? { ...c, width: Math.floor(c.width / 2) - 8 } : c, x = "validation loss (nats); training goes to the right";
    const { node, px, inside } = lines(part, paths, { label: x, backwards: true }, { label });
    if (known(level)) node.append(straight(px(level), inside.top, px(level), inside.bottom, { class: "level" }));
    const minus = reference ? choice.minus : "", words = (arm, i) => `${arm.at[study.series]} ${told(estimates[i], minus)}`;
    const all = study.arms.filter((arm) => others(study).every((name) => arm.at[name] === choice[name])).length;
    const tested = !choice.level && minus === study.reference && arms.length === all; // fewer arms, or another level: another comparison
    const entry = (arm, i) => ({ arm, found: estimates[i], words: words(arm, i), p: tested ? arm.p[`loss ${metric}`] : null });
    const entries = arms.map(entry).filter(({ arm }) => arm !== reference);
    return {
      node: html("div", { class: "row" }, node, columns(part, entries, { label: minus ? `${label} minus ${minus}'s` : label, zero: minus })),
      said: `The level of loss is ${digits(level)} nats. ${summary(entries, label, minus)}`,
      caption: `Means over seeds in training, and what each line has at the dotted level, with 95% intervals (jackknife over seeds, not adjusted)${tested ? HOLLOW : ""}. An activation that begins below the level has no value.`,
      header: [...Object.keys(study.factors), "loss", "metric", "minus", ...EXACT],
      rows: entries.map(({ arm, found }) => [...Object.values(arm.at), level, metric, minus || "none", ...found]),
      code: equalLoss(choice, arms),
    };
  },
  ulp(c) {
    const { study, choice } = c, { metric } = choice, { label } = study.metrics[metric];
    const shown = select(study, choice).filter((arm) => arm.moved[metric]);
    const entries = shown.map((arm) => {
      const moved = arm.moved[metric], floor = estimate(study, arm, metric), singles = moved.length > 1 ? moved : [];
      const words = `${among(c, arm)} ${digits(mean(moved), 2)} after one ULP, ${digits(floor[0], 3)} with another seed`;
      return { arm, found: [mean(moved), null, null, moved.length], floor, singles, words };
    });
    return {
      node: columns(c, entries, { label, log: true }), said: summary(entries, label),
      caption: "Filled: the same seed, one weight moved by one unit in the last place (ULP). Hollow: another seed, with its 95% interval. The axis is logarithmic; an exact 0 lies on its lower end.",
      header: [...Object.keys(study.factors), "metric", "after one ULP", "runs", ...EXACT.map((name) => `another seed: ${name}`)],
      rows: entries.map(({ arm, found, floor }) => [...Object.values(arm.at), metric, found[0], found[3], ...floor]),
      code: averages(study, choice, shown, [metric], true),
    };
  },
  two(c) {
    const { study, choice } = c, arms = [choice.a, choice.b].map((name) => study.arms.find((arm) => key(arm) === name));
    const names = Object.keys(study.metrics);
    const found = (metric) => [...arms.map((arm) => estimate(study, arm, metric)), estimate(study, arms[1], metric, arms[0])];
    const cells = (name) => found(name).map((one, i) => (i < 2 ? told(one).replace(/, n = .*/, "") : told(one, "A")));
    const words = names.map((name) => [study.metrics[name].label, ...cells(name)]);
    const picture = slopes(c, arms, choice.metric, found(choice.metric).slice(0, 2));
    const numbers = table(["metric", "A", "B", "B minus A"], words, "Every metric, with 95% intervals, not adjusted");
    return {
      node: html("div", {}, picture, html("div", { class: "numbers", tabindex: 0, role: "region", "aria-label": "Every metric" }, numbers)),
      said: `${capital(short(study.metrics[choice.metric].label))}: B minus A is ${told(found(choice.metric)[2], "A")}, paired by seed.`,
      caption: "Thin lines join what has the same seed, or the same two seeds, in both.",
      header: ["metric", ...["A", "B", "B minus A"].flatMap((name) => EXACT.map((end) => `${name}: ${end}`))],
      rows: names.map((name) => [name, ...found(name).flat()]), code: averages(study, choice, arms, names),
    };
  },
};

// ---- The same numbers in Python.

const list = (names) => JSON.stringify(names).replaceAll(",", ", ");
const load = (name, kind = "") => `import actlab\ntrials, pairs = actlab.load("${name}"${kind})\n`;
const columnsOf = (study) => [...study.cells, ...(study.arms.some((arm) => arm.setting) ? ["setting"] : [])];

/** The condition of a query that holds for these arms alone. */
function where(study, arms) {
  const levels = (some, column) => [...new Set(some.map((arm) => (column === "setting" ? arm.setting : arm.at[column])))];
  const literal = (text) => (text && Number.isFinite(Number(text)) ? text : `'${text}'`);
  const narrow = columnsOf(study).filter((column) => levels(arms, column).length < levels(study.arms, column).length);
  return narrow.map((column) => ` and ${column} in [${levels(arms, column).map(literal).join(", ")}]`).join("");
}

function averages(study, choice, arms, names, moved = false) {
  const by = list(columnsOf(study)), each = choice.view === "two" ? arms.map((arm) => [arm]) : [arms];
  const print = (rows, kind, some, columns) => `print(${rows}.query("kind ${kind}${where(study, some)}").groupby(${by})[${list(columns)}].mean())`;
  const ulp = moved ? [print('pairs[pairs["second"].str.endswith("-nudge")]', `!= '${study.kind}'`, arms, names)] : [];
  const plain = ["trials", "pairs"].flatMap((rows) => {
    const columns = names.filter((name) => study.metrics[name].pairs === (rows === "pairs"));
    return columns.length ? each.map((some) => print(rows, `== '${study.kind}'`, some, columns)) : [];
  });
  return load(choice.study, moved ? ', "all"' : "") + [...ulp, ...plain].join("\n");
}

function differences(study, { study: folder, metric, minus }, arms) {
  const { pairs } = study.metrics[metric], by = columnsOf(study).filter((column) => column !== study.series);
  const index = list([...by, ...(pairs ? ["first", "second"] : ["trial"])]), rows = pairs ? "pairs" : "trials";
  const wide = `pivot(index=${index}, columns="${study.series}", values="${metric}")`;
  return `${load(folder)}wide = ${rows}.query("kind == '${study.kind}'${where(study, arms)}").${wide}
print(wide.sub(wide["${minus}"], axis=0).groupby(${list(by)}).mean())`;
}

/** Arms of one architecture and setting, whose training is followed. */
function read({ study }, arms) {
  const { model } = arms[0].at, row = [model, arms[0].setting].filter(Boolean).join(", ");
  return `from actlab.records import repro, store
grid = repro.read(store.load_study("${study}"), activations=${list(arms.map((arm) => arm.at.activation))})
arms = {arm.activation: arm for arm in grid.of_model("${row}")}\n`;
}

function equalLoss(choice, arms) {
  if (!arms.length) return "";
  const reference = choice.minus === "none" ? arms[0].at.activation : choice.minus;
  const curves = `{name: arm.curves("${choice.metric}") for name, arm in arms.items()}`;
  return `from actlab.statistics.equal_loss import equal_loss
${read(choice, arms)}print(equal_loss(${curves}, "${reference}", ${choice.level / 100}))`;
}

function trajectories(study, choice, arms, minus) {
  const names = [choice.x, choice.metric], pairs = names.filter((name) => study.metrics[name]?.pairs);
  const print = (what) => {
    const all = minus ? [...arms, twin(study, arms[0], minus)] : arms, values = what("arm") + (minus && ` - ${what(`arms["${minus}"]`)}`);
    return `import numpy as np\n${read(choice, all)}print({name: ${values} for name, arm in arms.items()})`;
  };
  const inside = names.every((name) => ["iteration", "val_loss", ...followed(study)].includes(name)) && arms.length;
  const history = names.join() === "iteration,val_loss";
  if (inside && study.kind === "trials" && history) return print((arm) => `np.nanmean(${arm}.curve("val_loss"), axis=0)`);
  if (!inside || !pairs.length) return averages(study, choice, arms, names.filter((name) => study.metrics[name]));
  return print((arm) => `np.array([${pairs.map((name) => `*${arm}.curves("${name}").means()`).join(", ")}])`);
}

// ---- The program.

/** anywidget's entry point: `model` has get, set, save_changes and on; `address`: the page's address holds the choice. */
function render({ model, el, address = false }) {
  const catalogue = model.get("catalogue"), id = `explorer-${Math.random().toString(36).slice(2)}`;
  el.classList.add("actlab-explorer");
  if (!Object.keys(catalogue.studies).length) return el.append(html("p", {}, "There is no record to explore yet."));
  for (const study of Object.values(catalogue.studies)) study.t = catalogue.t;
  const held = () => choose(catalogue, address ? fromHash(location.hash) : model.get("choice"));
  let choice = held(), shown;
  const button = (text, act) => {
    const made = html("button", { type: "button" }, text);
    made.addEventListener("click", act);
    return made;
  };
  const menus = html("form", { class: "menus", "aria-label": "What to show" }), said = html("p", { class: "status", role: "status" });
  const main = html("figure", { class: "main" }), words = html("figcaption"), tip = html("div", { class: "tip", hidden: "" });
  const numbers = html("div", { class: "numbers", tabindex: 0, role: "region", "aria-label": "The numbers as a table" });
  const code = html("pre", { tabindex: 0 }), python = html("details", {}, html("summary", {}, "The same numbers in Python"), code);
  const copy = button("Copy as Python", () => {
    python.open = true;
    navigator.clipboard?.writeText(code.textContent).catch(() => {}); // a page from a folder may not; the text is in sight
  });
  const save = button("Download these numbers (CSV)", () =>
    download(`${choice.study}-${choice.view}-${choice.metric}.csv`, csv([shown.header, ...shown.rows])));
  el.append(html("div", { class: "menus" }, ...presets()), menus, said, main, words, html("div", { class: "menus" }, copy, save),
    python, html("details", {}, html("summary", {}, "The numbers as a table"), numbers), tip);

  /** Another study begins anew, but for the metric: half of its levels ticked would look like all of them. */
  function change(part) {
    choice = choose(catalogue, part.study ? { metric: choice.metric, ...part } : { ...choice, ...part });
    model.set("choice", choice);
    model.save_changes();
    if (address) history.pushState(history.state, "", toHash(catalogue, choice));
    draw();
  }
  function follow() {
    if (JSON.stringify(held()) !== JSON.stringify(choice)) draw((choice = held()));
  }
  if (address) addEventListener("popstate", follow);
  model.on("change:choice", follow);

  /** Beside its reference, the configuration of this study that is furthest from it in this metric. */
  function largest() {
    const study = catalogue.studies[choice.study], minus = choice.minus === "none" ? choose(catalogue, { study: choice.study }).minus : choice.minus;
    const cells = study.arms.map((arm) => [arm, twin(study, arm, minus)]).filter(([arm, other]) => other && other !== arm);
    const size = ([arm, other]) => Math.abs(estimate(study, arm, choice.metric, other)[0] ?? 0);
    const [found] = cells.sort((one, two) => size(two) - size(one));
    if (found) change({ view: "two", a: key(found[1]), b: key(found[0]) });
  }
  function presets() {
    const there = catalogue.presets.filter(([, state]) => state.study in catalogue.studies);
    const first = there.filter(([text], i) => there.findIndex(([same]) => same === text) === i);
    return [...first.map(([text, state]) => button(text, () => change({ metric: "", ...state }))), button("The largest difference", largest)];
  }

  function menu(name, label, options) {
    const made = html("select", { name, id: `${id}-${name}` });
    made.append(...options.map(([level, text = level]) => new Option(text, level, false, level === choice[name])));
    made.addEventListener("change", () => change({ [name]: made.value }));
    if (name === "study") {
      for (const one of [made, ...made.options]) one.title = `results/${one.value}`;
      const groups = Map.groupBy([...made.options], ({ value }) => catalogue.studies[value].group);
      made.replaceChildren(...[...groups].map(([label, inside]) => html("optgroup", { label }, ...inside)));
      made.value = choice[name]; // moving an option takes its choice away
    }
    return html("div", { class: "menu" }, html("label", { for: made.id }, label), made);
  }
  function box(series, level) {
    const checked = choice[series].includes(level) ? "" : null, style = catalogue.styles[level];
    const made = html("input", { type: "checkbox", name: series, value: level, id: `${id}-${series}-${level}`, checked });
    made.addEventListener("change", () =>
      change({ [series]: [...menus.querySelectorAll(`[name="${series}"]:checked`)].map((one) => one.value) }));
    const sample = svg("svg", { width: 34, height: 12, "aria-hidden": "true" }, path(style, [[0, 6], [34, 6]]), shape(style, 17, 6));
    return html("label", { class: "box", title: style.about ?? null }, made, sample, level);
  }
  function slider() {
    const made = html("input", { type: "range", name: "level", min: 0, max: 90, value: choice.level, id: `${id}-level` });
    made.addEventListener("input", () => drawPicture((choice = choose(catalogue, { ...choice, level: made.value }))));
    made.addEventListener("change", () => change({ level: made.value }));
    return html("div", { class: "menu" }, html("label", { for: made.id }, "level of loss (left: the lowest that all reach)"), made);
  }

  function drawMenus(study) {
    const active = document.activeElement?.id, { view } = choice, { factors, series } = study, wide = ["values", "ulp"].includes(view);
    const single = (name) => factors[name].levels.map((level) => [level]), metric = (name) => [name, study.metrics[name]?.label];
    const free = others(study).filter((name) => factors[name].levels.length > 1 && !(wide && name === choice.along));
    const arms = study.arms.map((arm) => [key(arm), named(arm)]);
    menus.replaceChildren(...[
      menu("study", "study", Object.entries(catalogue.studies).map(([name, { title }]) => [name, title])),
      menu("view", "picture", views(study).map((name) => [name, VIEWS[name]])),
      menu("metric", "metric", metrics(study, view).map(metric)),
      view === "through" && menu("x", "against", ["iteration", ...Object.keys(study.metrics)].map(metric)),
      (["values", "loss"].includes(view) || (view === "through" && choice.x === "iteration")) && menu("minus", "minus", [["none"], ...single(series)]),
      wide && others(study).length > 1 && menu("along", "along the axis", others(study).map((name) => [name, factors[name].label])),
      ...(view === "two" ? ["a", "b"].map((name) => menu(name, name.toUpperCase(), arms)) : free.map((name) => menu(name, factors[name].label, single(name)))),
      view === "loss" && slider(),
      view !== "two" && html("fieldset", {}, html("legend", {}, factors[series].label), ...factors[series].levels.map((level) => box(series, level))),
    ].filter(Boolean));
    if (active) document.getElementById(active)?.focus();
  }
  function drawPicture() {
    const study = catalogue.studies[choice.study], width = Math.max(280, Math.floor(el.clientWidth));
    shown = PICTURES[choice.view]({ study, choice, styles: catalogue.styles, width });
    main.replaceChildren(shown.node);
    main.querySelector(".arm")?.setAttribute("tabindex", 0);
    words.textContent = `${shown.caption} Records: results/${choice.study}.`;
    said.textContent = shown.said;
    code.textContent = shown.code;
    tip.hidden = true;
    numbers.replaceChildren(table(shown.header, shown.rows, `${study.title}: 95% intervals, not adjusted, n seeds`));
  }
  function draw() {
    drawMenus(catalogue.studies[choice.study]);
    drawPicture();
  }

  /** Hover and keyboard: a mark's numbers beside it; the arrow keys go from mark to mark. */
  function tell(event) {
    const found = event.target.closest(".arm");
    tip.hidden = !found;
    if (!found) return;
    const [inner, outer] = [found, el].map((one) => one.getBoundingClientRect());
    tip.textContent = found.getAttribute("aria-label");
    tip.style.left = `${Math.max(0, Math.min(inner.left - outer.left + 12, outer.width - tip.offsetWidth))}px`;
    tip.style.top = `${inner.top - outer.top - tip.offsetHeight - 6}px`;
  }
  for (const name of ["mouseover", "focusin"]) main.addEventListener(name, tell);
  for (const name of ["mouseleave", "focusout"]) main.addEventListener(name, () => (tip.hidden = true));
  main.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key], marks = [...main.querySelectorAll(".arm")];
    if (event.key === "Escape") tip.hidden = true;
    if (!step || !marks.includes(document.activeElement)) return;
    event.preventDefault();
    marks[(marks.indexOf(document.activeElement) + step + marks.length) % marks.length].focus();
  });
  menus.addEventListener("submit", (event) => event.preventDefault());
  draw();
  let before = el.clientWidth;
  new ResizeObserver(() => {
    if (el.clientWidth && el.clientWidth !== before) drawPicture((before = el.clientWidth));
  }).observe(el);
  el.dataset.ready = "true";
}

export default { render };
