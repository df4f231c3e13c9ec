// What the 3D replay is drawn with: WebGL 2 programs, meshes, shapes in many copies, the texture of shadows.

const FLOATS = 12; // of an instance: base, vector, colour, radius, head

const MESH_VERTEX = `#version 300 es
layout(location=0) in vec3 a_position; layout(location=1) in vec3 a_normal; layout(location=2) in vec4 a_color;
uniform mat4 u_camera, u_light; uniform vec4 u_turn; uniform vec3 u_move;
out vec3 v_position, v_normal; out vec4 v_color; out vec4 v_light;
vec3 turned(vec3 v) { return v + 2.0 * cross(u_turn.yzw, cross(u_turn.yzw, v) + u_turn.x * v); }
void main() {
  v_position = turned(a_position) + u_move; v_normal = turned(a_normal); v_color = a_color;
  v_light = u_light * vec4(v_position, 1.0);
  gl_Position = u_camera * vec4(v_position, 1.0);
}`;

// Where no graphics card draws, shadows have hard edges: one look at their texture, not nine.
const shading = (software) => `
uniform vec3 u_sun; uniform highp sampler2DShadow u_shadow;
float sunlight(vec4 at, float facing) {
  vec3 p = at.xyz / at.w * 0.5 + 0.5;
  if (any(lessThan(p, vec3(0.0))) || any(greaterThan(p, vec3(1.0)))) return 1.0;
  const int soft = ${software ? 0 : 1};
  float sum = 0.0, bias = 0.0012 + 0.004 * (1.0 - facing);
  for (int x = -soft; x <= soft; x++) for (int y = -soft; y <= soft; y++)
    sum += texture(u_shadow, vec3(p.xy + vec2(x, y) / 1024.0, p.z - bias));
  return sum / float((2 * soft + 1) * (2 * soft + 1));
}
vec3 shaded(vec3 color, vec3 normal, float sun) {
  float sky = 0.5 + 0.5 * normal.z, facing = max(0.0, dot(normal, u_sun));
  return color * (mix(0.42, 0.62, sky) + 0.5 * facing * sun);
}`;

const meshFragment = (software) => `#version 300 es
precision highp float;
in vec3 v_position, v_normal; in vec4 v_color; in vec4 v_light; out vec4 color;
uniform bool u_ground; uniform vec3 u_base, u_line, u_sky, u_middle; uniform float u_cell, u_reach; uniform vec4 u_ghost;
${shading(software)}
float lines(vec2 at) { vec2 d = abs(fract(at - 0.5) - 0.5) / fwidth(at); return 1.0 - min(min(d.x, d.y), 1.0); }
void main() {
  vec3 normal = normalize(v_normal);
  float facing = max(0.0, dot(normal, u_sun)), sun = sunlight(v_light, facing);
  if (!u_ground) {
    float ghost = u_ghost.a;
    color = vec4(shaded(ghost > 0.0 ? mix(v_color.rgb, u_ghost.rgb, 0.7) : v_color.rgb, normal, sun), v_color.a * (1.0 - ghost));
    return;
  }
  vec2 at = v_position.xy / u_cell;
  float far = smoothstep(0.35, 1.0, distance(v_position, u_middle) / u_reach);
  vec3 base = mix(u_base, u_line, max(0.35 * lines(at), 0.8 * lines(at / 4.0)) * (1.0 - far) * step(0.4, normal.z));
  base *= mix(0.72, 1.0, abs(normal.z)) * mix(0.72, 1.0, sun);
  color = vec4(mix(base, u_sky, far), 1.0);
}`;

const SHADOW_FRAGMENT = `#version 300 es
precision mediump float;
void main() {}`;

// Arrows, cylinders and cones: rings along a vector; balls: a mesh of radius 1.
const SHAPE_VERTEX = `#version 300 es
layout(location=0) in vec4 a_ring; layout(location=1) in vec2 a_slant;
layout(location=2) in vec3 i_base; layout(location=3) in vec3 i_vector; layout(location=4) in vec4 i_color;
layout(location=5) in vec2 i_size;
uniform mat4 u_camera; uniform bool u_ball;
out vec3 v_normal; out vec4 v_color;
void main() {
  v_color = i_color;
  vec3 at;
  if (u_ball) { v_normal = a_ring.xyz; at = i_base + i_size.x * a_ring.xyz; }
  else {
    float size = length(i_vector);
    vec3 z = size > 0.0 ? i_vector / size : vec3(0.0, 0.0, 1.0);
    vec3 x = normalize(abs(z.z) < 0.9 ? cross(z, vec3(0.0, 0.0, 1.0)) : cross(z, vec3(1.0, 0.0, 0.0))), y = cross(z, x);
    float head = i_size.y > 0.0 ? min(3.4 * i_size.x, 0.5 * size) : 0.0;
    float along = a_ring.z < 0.5 ? 0.0 : a_ring.z < 1.5 ? size - head : size;
    float wide = i_size.y > 0.0 ? a_ring.w : min(a_ring.w, 0.5);
    vec3 out_ = a_ring.x * x + a_ring.y * y;
    v_normal = normalize(a_slant.x * out_ + a_slant.y * z + 1e-6 * z);
    at = i_base + along * z + i_size.x * wide * out_;
  }
  gl_Position = u_camera * vec4(at, 1.0);
}`;

const SHAPE_FRAGMENT = `#version 300 es
precision highp float;
in vec3 v_normal; in vec4 v_color; out vec4 color; uniform vec3 u_sun; uniform float u_opacity;
void main() {
  vec3 n = normalize(v_normal);
  color = vec4(v_color.rgb * (0.78 + 0.3 * max(0.0, dot(n, u_sun))), v_color.a * u_opacity);
}`;

const FLAT_VERTEX = `#version 300 es
layout(location=0) in vec3 a_position; uniform mat4 u_camera;
void main() { gl_Position = u_camera * vec4(a_position, 1.0); }`;
const FLAT_FRAGMENT = `#version 300 es
precision mediump float;
uniform vec4 u_color; out vec4 color; void main() { color = u_color; }`;

// Whether the processor does the work of a graphics card, which takes a hundred times as long: then edges are not smooth.
function drawnBySoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  const known = gl && gl.getExtension("WEBGL_debug_renderer_info");
  const name = known ? gl.getParameter(known.UNMASKED_RENDERER_WEBGL) : "";
  if (gl) gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /SwiftShader|llvmpipe|softpipe|Software|Basic Render/i.test(name);
}

class Stage {
  constructor(canvas, data) {
    this.canvas = canvas;
    this.data = data;
    this.software = drawnBySoftware();
    this.gl = canvas.getContext("webgl2", { antialias: !this.software, alpha: false });
    if (!this.gl) throw new Error("This browser has no WebGL 2, so the 3D replay is not shown.");
    this.build();
  }

  build() {
    const gl = this.gl;
    this.program = {
      mesh: this.compile(MESH_VERTEX, meshFragment(this.software)),
      shadow: this.compile(MESH_VERTEX, SHADOW_FRAGMENT),
      shape: this.compile(SHAPE_VERTEX, SHAPE_FRAGMENT),
      flat: this.compile(FLAT_VERTEX, FLAT_FRAGMENT),
    };
    this.robots = this.data.robots.map((robot) => robot.bodies.map((mesh) => this.upload(mesh)));
    this.grounds = this.data.grounds.map((mesh) => this.upload(mesh));
    this.buffer = gl.createBuffer();
    const tilt = [0.94, 0.34];
    this.shape = {
      // x, y of the ring come later; stage (0 tail, 1 neck, 2 tip), radius, slant of the normal
      arrow: this.rings([[0, 0, 0, -1], [0, 0.5, 0, -1], [0, 0.5, 1, 0], [1, 0.5, 1, 0], [1, 0.5, 0, -1], [1, 1.25, 0, -1], [1, 1.25, ...tilt], [2, 0, ...tilt]]),
      cone: this.rings([[0, 0, 1, -0.5], [2, 1, 1, -0.5]]),
      ball: this.ball(12, 16),
      diamond: this.ball(2, 4),
    };
    this.polygon = { array: gl.createVertexArray(), buffer: gl.createBuffer() };
    gl.bindVertexArray(this.polygon.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.polygon.buffer);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    const depth = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, depth);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.DEPTH_COMPONENT24, 1024, 1024, 0, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, null);
    for (const [key, value] of [
      [gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
      [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE], [gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE], [gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL],
    ]) gl.texParameteri(gl.TEXTURE_2D, key, value);
    this.shadow = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadow);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, depth, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  compile(vertex, fragment) {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    const uniforms = {};
    for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i++) {
      const name = gl.getActiveUniform(program, i).name;
      uniforms[name] = gl.getUniformLocation(program, name);
    }
    return { program, uniforms };
  }

  upload(mesh) {
    const gl = this.gl, array = gl.createVertexArray();
    gl.bindVertexArray(array);
    const attribute = (place, data, size, type, normalized) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, type, normalized, 0, 0);
    };
    attribute(0, mesh.vertices, 3, gl.FLOAT, false);
    attribute(1, mesh.normals, 3, gl.BYTE, true);
    attribute(2, mesh.colors, 4, gl.UNSIGNED_BYTE, true);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, mesh.faces, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
    return { array, count: mesh.faces.length, type: mesh.faces instanceof Uint16Array ? gl.UNSIGNED_SHORT : gl.UNSIGNED_INT };
  }

  rings(rows, corners = 20) {
    const vertices = [], faces = [];
    rows.forEach(([stage, radius, out, along], k) => {
      for (let i = 0; i <= corners; i++) {
        const angle = (2 * Math.PI * i) / corners;
        vertices.push(Math.cos(angle), Math.sin(angle), stage, radius, out, along);
        const a = k * (corners + 1) + i, b = a + corners + 1;
        if (k + 1 < rows.length && i < corners) faces.push(a, a + 1, b + 1, a, b + 1, b);
      }
    });
    return this.instanced(vertices, faces);
  }

  ball(rows, columns) {
    const vertices = [], faces = [];
    for (let k = 0; k <= rows; k++)
      for (let i = 0; i <= columns; i++) {
        const polar = (Math.PI * k) / rows, angle = (2 * Math.PI * i) / columns, a = k * (columns + 1) + i, b = a + columns + 1;
        vertices.push(Math.sin(polar) * Math.cos(angle), Math.sin(polar) * Math.sin(angle), Math.cos(polar), 0, 0, 0);
        if (k < rows && i < columns) faces.push(a, b, b + 1, a, b + 1, a + 1);
      }
    return this.instanced(vertices, faces);
  }

  instanced(vertices, faces) {
    const gl = this.gl, array = gl.createVertexArray();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(vertices), gl.STATIC_DRAW);
    [[0, 4, 0], [1, 2, 16]].forEach(([place, size, start]) => {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, gl.FLOAT, false, 24, start);
    });
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint16Array(faces), gl.STATIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    [[2, 3, 0], [3, 3, 12], [4, 4, 24], [5, 2, 40]].forEach(([place, size, start]) => {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, gl.FLOAT, false, 4 * FLOATS, start);
      gl.vertexAttribDivisor(place, 1);
    });
    gl.bindVertexArray(null);
    return { array, count: faces.length };
  }
}
