// Numbers in words, elements of a page, and the one picture: marks and lines in a frame. Estimates nothing.

const known = Number.isFinite;
const digits = (value, n = 4) => (known(value) ? String(Number(value.toPrecision(n))) : "none");
/** A label without its unit, for sentences. */
const short = (label) => label.replace(/ \([^)]*\)/, "");
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

/** An estimate [value, low, high, n], or a difference, which has a p too, in words: its significant digits, and the
    interval to the same decimal place. */
function told([value, low, high, n, p]) {
  const signed = p !== undefined;
  if (!known(value) || !n) return digits(value, 3);
  const places = Math.max(0, (signed ? 2 : 3) - Math.floor(Math.log10(Math.abs(value))));
  const shown = (number) => (signed && number > 0 ? "+" : "") + (places < 7 ? number.toFixed(places) : digits(number, 2));
  return `${shown(value)}${known(low) ? ` [${shown(low)}, ${shown(high)}]` : ""}, n = ${n}`;
}

function html(tag, properties, ...children) {
  const made = document.createElement(tag);
  made.append(...children);
  return Object.assign(made, properties);
}
function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const name in attributes) made.setAttribute(name, attributes[name]);
  made.append(...children);
  return made;
}

function table([header, ...rows], caption) {
  const made = html("table", { className: "table" }, html("caption", {}, caption));
  made.createTHead().insertRow().append(...header.map((name) => html("th", { scope: "col" }, name)));
  const body = made.createTBody();
  for (const cells of rows) body.insertRow().append(...header.map((_, i) => html("td", {}, String(cells[i] ?? NaN).replace("NaN", "none"))));
  return made;
}

/** RFC 4180; what a spreadsheet would take for a formula gets an apostrophe (actlab.files.in_csv). */
function download(name, lines) {
  const inert = (value) => (/^[=+\-@\t\r]/.test(value) && isNaN(value) ? `'${value}` : value);
  const field = (value) => (typeof value === "string" ? `"${inert(value).replaceAll('"', '""')}"` : value);
  const text = lines.map((cells) => `${cells.map(field).join()}\r\n`).join("");
  html("a", { href: "data:text/csv;charset=utf-8," + encodeURIComponent(text), download: name }).click();
}

const straight = (x1, y1, x2, y2, more) => svg("line", { x1, y1, x2, y2, ...more });
const shape = ({ colour: stroke, shape: d }, x, y, hollow) =>
  svg("path", { d, transform: `translate(${x},${y})`, stroke, fill: hollow ? "none" : stroke });
const path = ({ colour: stroke, dashes }, d) => svg("path", { d, class: "line", stroke, "stroke-dasharray": dashes });

/** An axis {log, also: further values, backwards, names} over some values: its ticks [[pixel, text]], and `to`: value -> pixel. */
function axis({ log, also = [], backwards, names }, values, from, to, count) {
  const turn = log ? Math.log10 : (value) => value, found = [...values, ...also].map(turn).filter(known), ticks = [];
  let low = Math.min(...found), high = Math.max(...found), step = 1, say = (i) => digits(i * step);
  if (names) [low, high, say] = [-0.5, names.length - 0.5, (i) => names[i]];
  else if (!found.length) [low, high] = [-1, 1];
  else if (log) [low, high, say] = [Math.floor(low), Math.floor(high) + 1, (i) => (Math.abs(i) < 5 ? digits(10 ** i, 1) : (10 ** i).toExponential(0))];
  else {
    const more = (high - low || Math.abs(high) || 20) / 20;
    [low, high] = [low >= 0 && low < more ? 0 : low - more, high + more];
    const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
    step = power * [1, 2, 5, 10].find((one) => one * power >= rough);
  }
  const [start, end] = backwards ? [high, low] : [low, high], place = (turned) => from + ((turned - start) / (end - start)) * (to - from);
  for (let i = Math.ceil(low / step - 1e-9); i <= high / step + 1e-9; i++) ticks.push([place(i * step), say(i)]);
  return { ticks, to: (value) => place(turn(value)) };
}

/** A frame with axes, and points {arm, style, x, found: [value, low, high], ends: interval of x, singles, hollow, words};
    `line`: joined arm by arm, `until`: of each arm only so many; `more`: further elements, of the scales. */
function chart({ width, x, y, points, line, until, more }) {
  const tilt = x.names?.some((name) => name.length * 7.5 > (width - 72) / x.names.length), height = 330;
  const left = 58, right = width - 14, top = 24, bottom = height - (tilt ? 96 : 46);
  const across = axis(x, points.flatMap(({ x, ends = [] }) => [x, ...ends]), left, right, width / 100);
  const up = axis(y, points.flatMap(({ found, singles = [] }) => [...found.slice(0, 3), ...singles]), bottom, top, 5);
  const px = across.to, py = (value) => Math.min(up.to(value), bottom); // an exact 0 on a logarithmic axis
  const write = (text, x, y, anchor, turned = 0) => svg("text", { transform: `translate(${x},${y}) rotate(${turned})`, "text-anchor": anchor }, text);
  const node = svg("svg", { width, height, role: "group", "aria-label": `${y.label} against ${x.label}; the numbers are in the table` },
    straight(left, bottom, right, bottom, { class: "axis" }), write(x.label, (left + right) / 2, height - 6, "middle"), write(y.label, 4, 13, "start"));
  for (const [place, text] of up.ticks)
    node.append(straight(left, place, right, place, { class: text === "0" ? "axis" : "grid" }), write(text, left - 6, place + 4, "end"));
  for (const [place, text] of across.ticks)
    node.append(tilt ? write(text, place + 4, bottom + 15, "end", -38) : write(text, place, bottom + 15, "middle"));
  if (more) node.append(more({ px, py, top, bottom }));

  for (const all of Map.groupBy(points, ({ arm }) => arm).values()) {
    const drawn = all.slice(0, until), { style } = all[0], stroke = style.colour;
    const joined = drawn.filter(({ found: [value] }) => !y.log || value > 0);
    if (line && joined.length) node.append(path(style, `M${joined.map((one) => [px(one.x), py(one.found[0])]).join("L")}`));
    for (const { x, found: [value, low, high], ends = [], singles = [], hollow, words } of drawn) {
      const group = svg("g", { class: "arm", role: "img", tabindex: -1, "aria-label": words }), cx = px(x), cy = py(value);
      for (const one of singles.filter(known)) group.append(svg("circle", { class: "single", cx: cx + 6, cy: py(one), r: 1.8, fill: stroke }));
      if (known(low)) group.append(straight(cx, py(low), cx, py(high), { stroke }));
      if (known(ends[0])) group.append(straight(px(ends[0]), cy, px(ends[1]), cy, { stroke }));
      if (known(value)) group.append(svg("circle", { cx, cy, r: 9, fill: "transparent" }), shape(style, cx, cy, hollow));
      node.append(group);
    }
  }
  return node;
}
