// Scales, ticks and the frame of a chart: lengths in CSS pixels.
import { digits, html, svg } from "./dom.js";

/** About `count` round numbers from `low` to `high`. */
export function ticks(low, high, count = 5) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.max(0, Math.floor(high / step + 1e-9) - first + 1) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** The range of some numbers, a little wider; [0, 1] where there are none. */
export function range(values, margin = 0.05) {
  const known = values.filter((value) => value !== null && value !== undefined);
  if (!known.length) return [0, 1];
  const low = Math.min(...known), high = Math.max(...known);
  const more = (high - low) * margin || Math.abs(high) * margin || 1;
  return [low >= 0 && low < more ? 0 : low - more, high + more];
}

/** From data to pixels, linearly. */
export function linear([low, high], [from, to]) {
  return (value) => from + ((value - low) / (high - low)) * (to - from);
}

/**
 * A frame with labelled axes. `x` is {domain, label, ticks: [[value, text]]} or {domain, label}; `y` is {domain, label}.
 * Returns {node, plot, px, py, inside}: the element, the group to draw into, and the two scales.
 */
export function frame({ width, height, x, y, says, tilt = false }) {
  const inside = { left: 56, right: width - 16, top: 22, bottom: height - (tilt ? 84 : 44) };
  const px = linear(x.domain, [inside.left, inside.right]), py = linear(y.domain, [inside.bottom, inside.top]);
  const node = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": says });
  for (const value of ticks(...y.domain)) {
    node.append(
      svg("line", { class: "grid", x1: inside.left, x2: inside.right, y1: py(value), y2: py(value) }),
      svg("text", { x: inside.left - 6, y: py(value) + 4, "text-anchor": "end" }, digits(value)),
    );
  }
  node.append(svg("line", { class: "axis", x1: inside.left, x2: inside.right, y1: inside.bottom, y2: inside.bottom }));
  for (const [value, text] of x.ticks ?? ticks(...x.domain, Math.max(2, Math.min(6, width / 80))).map((value) => [value, digits(value)])) {
    const place = tilt
      ? { transform: `translate(${px(value) + 4},${inside.bottom + 14}) rotate(-38)`, "text-anchor": "end" }
      : { x: px(value), y: inside.bottom + 16, "text-anchor": "middle" };
    node.append(svg("text", place, text));
  }
  node.append(
    svg("text", { x: (inside.left + inside.right) / 2, y: height - 6, "text-anchor": "middle" }, x.label),
    svg("text", { x: 4, y: 12 }, y.label),
  );
  const plot = svg("g");
  node.append(plot);
  return { node, plot, px, py, inside };
}

/** A picture with its caption below it, as wide as the picture. */
export function figure(caption, picture) {
  return html("figure", { style: `width: ${picture.getAttribute("width")}px` }, picture, html("figcaption", {}, caption));
}
