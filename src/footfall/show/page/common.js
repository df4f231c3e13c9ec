"use strict";
// Shared by the page's scripts: arrays out of base64, small vector algebra, the theme's colours.

const TYPES = { f4: Float32Array, f8: Float64Array, u1: Uint8Array, i1: Int8Array, u2: Uint16Array, u4: Uint32Array };

function unpack(packed) {
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const array = new TYPES[packed.type](bytes.buffer);
  array.shape = packed.shape;
  return array;
}

// Every packed array below a value, in place of its text.
function unpackAll(value) {
  if (Array.isArray(value)) return value.map(unpackAll);
  if (value === null || typeof value !== "object") return value;
  if ("type" in value && "data" in value && "shape" in value) return unpack(value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unpackAll(item)]));
}

// Numbers of an array that belong to one entry of its first axis.
const rowLength = (array) => array.shape.slice(1).reduce((a, b) => a * b, 1);
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
const mix = (a, b, w) => a + (b - a) * w;

// Index of the last entry of a sorted array that is not after x; 0 if all are.
function before(sorted, x) {
  let low = 0, high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (sorted[middle] <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}

const vec = {
  sub: (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]],
  add: (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]],
  scale: (a, s) => [a[0] * s, a[1] * s, a[2] * s],
  dot: (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2],
  cross: (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]],
  norm: (a) => Math.hypot(a[0], a[1], a[2]),
  unit: (a) => vec.scale(a, 1 / (vec.norm(a) || 1)),
};

// A vector turned by a unit quaternion w, x, y, z.
function rotate(q, v) {
  const axis = [q[1], q[2], q[3]], once = vec.add(vec.cross(axis, v), vec.scale(v, q[0]));
  return vec.add(v, vec.scale(vec.cross(axis, once), 2));
}

// 4 x 4 matrices, column by column as WebGL takes them.
const mat = {
  mul(a, b) {
    const out = new Float32Array(16);
    for (let c = 0; c < 4; c++)
      for (let r = 0; r < 4; r++)
        for (let k = 0; k < 4; k++) out[4 * c + r] += a[4 * k + r] * b[4 * c + k];
    return out;
  },
  perspective(fov, aspect, near, far) {
    const f = 1 / Math.tan(fov / 2), d = 1 / (near - far);
    return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (near + far) * d, -1, 0, 0, 2 * near * far * d, 0]);
  },
  box(half, depth) {
    return new Float32Array([1 / half, 0, 0, 0, 0, 1 / half, 0, 0, 0, 0, -1 / depth, 0, 0, 0, 0, 1]);
  },
  look(eye, target, up) {
    const z = vec.unit(vec.sub(eye, target)), x = vec.unit(vec.cross(up, z)), y = vec.cross(z, x);
    return new Float32Array([
      x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -vec.dot(x, eye), -vec.dot(y, eye), -vec.dot(z, eye), 1,
    ]);
  },
  apply(m, p) {
    const out = [0, 1, 2, 3].map((r) => m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r]);
    return [out[0] / out[3], out[1] / out[3], out[2] / out[3], out[3]];
  },
};

// The colours of the style sheet, for light or dark, as text and as numbers from 0 to 1.
function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const text = (name) => style.getPropertyValue(`--${name}`).trim();
  const number = (color) => [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16) / 255);
  const rgb = (name) => number(text(name));
  const palette = [];
  for (let i = 0; text(`series-${i}`); i++) palette.push(text(`series-${i}`));
  return { text, rgb, number, palette, modes: ["open", "stick", "slide"].map((m) => text(`mode-${m}`)) };
}

// Corners of the convex hull of [x, y, ...] points, counter-clockwise (Andrew's monotone chain).
function hull(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const chain = (list) => {
    const out = [];
    for (const p of list) {
      while (out.length > 1 && turn(out[out.length - 2], out[out.length - 1], p) <= 0) out.pop();
      out.push(p);
    }
    return out.slice(0, -1);
  };
  return sorted.length < 3 ? sorted : [...chain(sorted), ...chain(sorted.reverse())];
}
