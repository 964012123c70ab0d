// How a series is drawn: the colours, markers and line patterns of the book's other figures (actlab/figures/style.py).
import { html, svg } from "./dom.js";

const SHAPES = {
  o: "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
  s: "M-3.6,-3.6H3.6V3.6H-3.6Z",
  "^": "M0,-4.6L4.4,3.4H-4.4Z",
  v: "M0,4.6L4.4,-3.4H-4.4Z",
  D: "M0,-5L5,0L0,5L-5,0Z",
  P: "M-1.6,-4.6H1.6V-1.6H4.6V1.6H1.6V4.6H-1.6V1.6H-4.6V-1.6H-1.6Z",
  X: "M-4.6,-3L-3,-4.6L0,-1.6L3,-4.6L4.6,-3L1.6,0L4.6,3L3,4.6L0,1.6L-3,4.6L-4.6,3L-1.6,0Z",
};

/** Black is the page's own ink, so that it shows on a dark page too. */
export function ink(style) {
  return style.colour === "#000000" ? "currentColor" : style.colour;
}

/** A mark at a place; hollow ones stand for the noise floor. */
export function mark(style, x, y, hollow = false) {
  const colour = ink(style);
  return svg("path", {
    d: SHAPES[style.marker] ?? SHAPES.o,
    transform: `translate(${x},${y})`,
    fill: hollow ? "none" : colour,
    stroke: colour,
    "stroke-width": hollow ? 1.4 : 0,
  });
}

/** A line through the points whose y is known; it breaks where one is not. */
export function line(style, points, attributes = {}) {
  let d = "", drawing = false;
  for (const [x, y] of points) {
    if (y !== null) d += `${drawing ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`;
    drawing = y !== null;
  }
  return svg("path", { d, fill: "none", stroke: ink(style), "stroke-dasharray": style.dashes.map((n) => 2 * n).join(" "), ...attributes });
}

/** What a series looks like, for the boxes that switch it on and off. */
export function key(style) {
  return html("span", { class: "key", "aria-hidden": "true" }, svg("svg", { width: 34, height: 12 }, line(style, [[0, 6], [34, 6]], { "stroke-width": 2 }), mark(style, 17, 6)));
}

const CIVIDIS = [[0, 32, 76], [0, 42, 102], [64, 77, 107], [107, 109, 113], [147, 142, 120], [190, 177, 107], [235, 214, 70], [255, 233, 69]];

/** A colour for a share from 0 to 1: matplotlib's cividis, which reads alike to all kinds of colour vision. */
export function shade(share) {
  const at = Math.min(Math.max(share, 0), 1) * (CIVIDIS.length - 1), i = Math.min(Math.floor(at), CIVIDIS.length - 2);
  return `rgb(${CIVIDIS[i].map((from, k) => Math.round(from + (at - i) * (CIVIDIS[i + 1][k] - from))).join(",")})`;
}
