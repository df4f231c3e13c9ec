// The 3D replay: robots side by side on their ground, with forces and special points.

const LAYERS = { forces: true, cones: false, cop: true, zmp: true, com: true, support: true, trace: false, follow: true };

class Replay extends Stage {
  constructor(canvas, labels, data) {
    super(canvas, data);
    this.runs = data.runs;
    this.layers = { ...LAYERS };
    this.gain = 1;
    this.time = 0;
    this.instances = { arrow: [], cone: [], ball: [], diamond: [] };
    this.labels = this.runs.map((run) => {
      const label = document.createElement("div");
      label.className = "robot-label";
      labels.append(label);
      return label;
    });
    this.camera = { yaw: 0, pitch: 0.2, distance: 1, target: [0, 0, 0], pan: [0, 0, 0], fov: 0.55 };
    this.face("quarter");
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => { this.build(); this.draw(); });
  }

  // ---- what changes with time ----

  // Between which frames of a run a time lies: the two, the weight of the second, and the nearer one.
  at(run, time) {
    const first = before(run.time, time), second = Math.min(first + 1, run.time.length - 1);
    const span = run.time[second] - run.time[first];
    const weight = span > 0 ? clamp((time - run.time[first]) / span, 0, 1) : 0;
    return { first, second, weight, nearest: weight > 0.5 ? second : first };
  }

  // Entry k of an array of vectors between two frames; that of the nearer one where either is undefined.
  blend(array, at, k, run, place = true) {
    const width = array.shape[array.shape.length - 1], row = array.length / array.shape[0], out = [];
    for (let i = 0; i < width; i++) {
      const a = array[at.first * row + k * width + i], b = array[at.second * row + k * width + i];
      const between = mix(a, b, at.weight);
      out.push(Number.isNaN(between) ? array[at.nearest * row + k * width + i] : between);
    }
    if (place) out[1] += run.y;
    return out;
  }

  quaternion(run, at, body) {
    const array = run.bodyQuaternion, row = array.length / array.shape[0], p = at.first * row + 4 * body, q = at.second * row + 4 * body;
    let dot = 0;
    for (let i = 0; i < 4; i++) dot += array[p + i] * array[q + i];
    const out = [0, 1, 2, 3].map((i) => mix(array[p + i], Math.sign(dot || 1) * array[q + i], at.weight));
    const size = Math.hypot(...out);
    return out.map((x) => x / size);
  }

  normal(run, at, point) {
    const array = run.normal, frame = Math.min(at.nearest, array.shape[0] - 1), k = Math.min(point, array.shape[1] - 1);
    const start = 3 * (frame * array.shape[1] + k);
    return [array[start], array[start + 1], array[start + 2]];
  }

  add(kind, base, vector, color, radius, head = 1, opacity = 1) {
    this.instances[kind].push(...base, ...vector, ...color, opacity, radius, head);
  }

  // Everything that is drawn at the present time, as instances and polygons.
  arrange() {
    const size = this.data.size, theme = this.theme, on = this.layers, zero = [0, 0, 0];
    for (const kind in this.instances) this.instances[kind] = [];
    this.polygons = [];
    this.drawn = this.runs.map(() => ({ arrows: new Map(), bodies: [] }));
    const modes = ["mode-open", "mode-stick", "mode-slide"].map(theme.rgb);
    const [cop, zmp, com] = ["cop", "zmp", "com"].map(theme.rgb);
    this.runs.forEach((run, r) => {
      const at = this.at(run, this.time), count = run.mode.shape[1], drawn = this.drawn[r];
      drawn.at = at;
      for (let b = 0; b < run.bodyPosition.shape[1]; b++)
        drawn.bodies.push({ move: this.blend(run.bodyPosition, at, b, run), turn: this.quaternion(run, at, b) });
      const closed = [];
      for (let p = 0; p < count; p++) {
        const mode = run.mode[at.nearest * count + p];
        if (!mode) continue;
        const base = this.blend(run.point, at, p, run), normal = this.normal(run, at, p);
        closed.push(base);
        const row = 3 * (at.nearest * count + p);
        const apart = run.mode[at.first * count + p] !== run.mode[at.second * count + p];
        const force = apart ? [...run.force.slice(row, row + 3)] : this.blend(run.force, at, p, run, false);
        const arrow = vec.scale(force, this.data.scale * this.gain);
        if (on.forces && vec.norm(arrow) > 0) {
          drawn.arrows.set(p, this.instances.arrow.length);
          this.add("arrow", base, arrow, modes[mode], 0.009 * size);
        }
        const high = vec.dot(arrow, normal);
        if (on.cones && high > 0) this.add("cone", base, vec.scale(normal, high), modes[mode], run.friction * high, 1, 0.22);
      }
      const lift = (p) => [p[0], p[1], p[2] + 0.0015 * size];
      if (on.support && closed.length) {
        const corners = hull(closed).map(lift);
        this.polygons.push(corners);
        corners.forEach((corner, i) => this.add("arrow", corner, vec.sub(corners[(i + 1) % corners.length], corner), theme.rgb("support"), 0.005 * size, 0));
      }
      const defined = (p) => !p.some(Number.isNaN);
      if (on.cop) {
        const feet = run.cop.shape[1], whole = this.blend(run.overallCop, at, 0, run);
        for (let f = 0; f < feet && feet > 1; f++) {
          const centre = this.blend(run.cop, at, f, run);
          if (defined(centre)) this.add("ball", centre, zero, cop, 0.009 * size);
        }
        if (defined(whole)) this.add("ball", whole, zero, cop, 0.015 * size);
      }
      const moment = this.blend(run.zmp, at, 0, run);
      if (on.zmp && defined(moment)) this.add("diamond", moment, zero, zmp, 0.021 * size);
      if (on.com) {
        const centre = this.blend(run.com, at, 0, run), below = this.blend(run.comGround, at, 0, run);
        this.add("ball", centre, zero, com, 0.02 * size);
        if (defined(below)) {
          this.add("arrow", centre, vec.sub(below, centre), com, 0.004 * size, 0, 0.7);
          this.add("ball", below, zero, com, 0.008 * size);
        }
      }
      if (on.trace) {
        this.trace(run, at, run.overallCop, cop);
        this.trace(run, at, run.com, com);
      }
    });
  }

  trace(run, at, array, color) {
    let last = null;
    const step = Math.max(1, Math.floor(at.first / 400));
    for (let i = 0; i <= at.first; i += step) {
      const p = [array[3 * i], array[3 * i + 1] + run.y, array[3 * i + 2]];
      const good = !p.some(Number.isNaN);
      if (good && last) this.add("arrow", last, vec.sub(p, last), color, 0.004 * this.data.size, 0, 0.85);
      last = good ? p : null;
    }
  }

  // The force drawn at a point, read back from what is drawn: N; null where no arrow is.
  arrow(point, run = 0) {
    const start = this.drawn[run].arrows.get(point);
    if (start === undefined) return null;
    const all = this.instances.arrow, scale = this.data.scale * this.gain;
    return {
      base: [all[start], all[start + 1] - this.runs[run].y, all[start + 2]],
      force: [3, 4, 5].map((i) => all[start + i] / scale),
      mode: this.runs[run].mode[this.drawn[run].at.nearest * this.runs[run].mode.shape[1] + point],
    };
  }

  // ---- the camera ----

  face(view) {
    const views = { quarter: [-0.75, 0.22], front: [0, 0.06], side: [-Math.PI / 2, 0.06], top: [-Math.PI / 2, 1.5] };
    const several = this.runs.length > 1, [yaw, pitch] = views[view];
    Object.assign(this.camera, { yaw: several && view === "quarter" ? -0.3 : yaw, pitch, pan: [0, 0, 0] });
    const aspect = Math.max(0.2, this.canvas.clientWidth / Math.max(1, this.canvas.clientHeight));
    const wide = (several ? this.data.lane * (this.runs.length - 0.3) : 0.9 * this.data.size) * (view === "side" ? 0.5 : 1);
    const half = Math.tan(this.camera.fov / 2);
    this.camera.distance = Math.max(((several ? 0.66 : 0.58) * this.data.size) / half, (0.55 * wide) / (half * aspect)) + 0.25 * this.data.size;
    this.camera.target = this.centre();
  }

  centre() {
    const sum = [0, 0, 0], time = this.layers.follow ? this.time : 0;
    for (const run of this.runs) {
      const p = this.blend(run.com, this.at(run, time), 0, run);
      for (let i = 0; i < 3; i++) sum[i] += p[i] / this.runs.length;
    }
    const run = this.runs[0], ground = run.comGround[2];
    sum[2] = mix(sum[2], Number.isNaN(ground) ? 0 : ground + 0.45 * this.data.size, 0.8);
    return sum;
  }

  orbit(dx, dy) {
    this.camera.yaw -= 0.008 * dx;
    this.camera.pitch = clamp(this.camera.pitch + 0.008 * dy, -0.2, 1.55);
  }

  zoom(factor) {
    this.camera.distance = clamp(this.camera.distance * factor, 0.15 * this.data.size, 40 * this.data.size);
  }

  slide(dx, dy) {
    const { yaw, pitch, distance, fov } = this.camera, step = (2 * distance * Math.tan(fov / 2)) / this.canvas.clientHeight;
    const right = [-Math.sin(yaw), Math.cos(yaw), 0], up = [-Math.cos(yaw) * Math.sin(pitch), -Math.sin(yaw) * Math.sin(pitch), Math.cos(pitch)];
    this.camera.pan = vec.add(this.camera.pan, vec.add(vec.scale(right, -dx * step), vec.scale(up, dy * step)));
  }

  // ---- drawing ----

  draw() {
    const gl = this.gl, canvas = this.canvas, ratio = Math.min(window.devicePixelRatio || 1, 2);
    if (gl.isContextLost()) return;
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    this.theme = readTheme();
    this.arrange();
    const camera = this.camera, size = this.data.size;
    camera.target = this.centre();
    const target = vec.add(camera.target, camera.pan), c = Math.cos(camera.pitch);
    const eye = vec.add(target, vec.scale([Math.cos(camera.yaw) * c, Math.sin(camera.yaw) * c, Math.sin(camera.pitch)], camera.distance));
    const view = mat.mul(
      mat.perspective(camera.fov, width / height, 0.02 * camera.distance, camera.distance + 60 * size),
      mat.look(eye, target, [0, 0, 1]),
    );
    const sun = vec.unit([0.35, -0.8, 1.1]), reach = (this.data.lane * this.runs.length) / 2 + 1.2 * size;
    const light = mat.mul(mat.box(reach, 3 * reach), mat.look(vec.add(camera.target, vec.scale(sun, reach)), camera.target, [0, 1, 0]));
    const scene = { view, light, sun, eye, target: camera.target };
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.disable(gl.BLEND);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadow);
    gl.viewport(0, 0, 1024, 1024);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    this.drawRobots(this.program.shadow, { ...scene, view: light });
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, width, height);
    gl.clearColor(...this.theme.rgb("sky"), 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.drawGround(scene);
    this.drawRobots(this.program.mesh, scene);
    this.drawShapes(scene);
    this.drawLabels(view);
  }

  begin(program, scene) {
    const gl = this.gl, u = program.uniforms;
    gl.useProgram(program.program);
    gl.uniformMatrix4fv(u.u_camera, false, scene.view);
    if (u.u_light) gl.uniformMatrix4fv(u.u_light, false, scene.light);
    if (u.u_sun) gl.uniform3fv(u.u_sun, scene.sun);
    return u;
  }

  drawGround(scene) {
    const gl = this.gl, u = this.begin(this.program.mesh, scene), size = this.data.size;
    gl.uniform1i(u.u_ground, 1);
    gl.uniform3fv(u.u_base, this.theme.rgb("ground"));
    gl.uniform3fv(u.u_line, this.theme.rgb("ground-line"));
    gl.uniform3fv(u.u_sky, this.theme.rgb("sky"));
    gl.uniform3fv(u.u_middle, scene.target);
    gl.uniform1f(u.u_cell, size > 0.6 ? 0.25 : 0.05);
    gl.uniform1f(u.u_reach, 4 * size + 0.5 * this.data.lane * this.runs.length);
    gl.uniform4f(u.u_turn, 1, 0, 0, 0);
    this.grounds.forEach((mesh, i) => {
      gl.uniform1f(u.u_offset, this.runs[i].y);
      gl.uniform3f(u.u_move, 0, this.runs[i].y, 0);
      gl.bindVertexArray(mesh.array);
      gl.drawElements(gl.TRIANGLES, mesh.count, mesh.type, 0);
    });
    gl.uniform1i(u.u_ground, 0);
  }

  drawRobots(program, scene) {
    const gl = this.gl, u = this.begin(program, scene);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    this.runs.forEach((run, r) =>
      this.drawn[r].bodies.forEach(({ move, turn }, b) => {
        const mesh = this.robots[run.robot][b];
        gl.uniform3fv(u.u_move, move);
        gl.uniform4fv(u.u_turn, turn);
        gl.bindVertexArray(mesh.array);
        gl.drawElements(gl.TRIANGLES, mesh.count, mesh.type, 0);
      }),
    );
  }

  drawShapes(scene) {
    const gl = this.gl;
    gl.depthMask(false);
    const flat = this.begin(this.program.flat, scene);
    gl.uniform4f(flat.u_color, ...this.theme.rgb("support"), 0.22);
    gl.bindVertexArray(this.polygon.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.polygon.buffer);
    for (const corners of this.polygons) {
      gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(corners.flat()), gl.DYNAMIC_DRAW);
      gl.drawArrays(gl.TRIANGLE_FAN, 0, corners.length);
    }
    const u = this.begin(this.program.shape, scene);
    // What lies behind the robot shows through it, faintly: pressure centres are under the soles.
    for (const [compare, opacity] of [[gl.GREATER, 0.38], [gl.LEQUAL, 1]]) {
      gl.depthFunc(compare);
      gl.uniform1f(u.u_opacity, opacity);
      for (const kind of ["arrow", "ball", "diamond", "cone"]) {
        const data = this.instances[kind];
        if (!data.length || (kind === "cone" && opacity < 1)) continue;
        gl.depthMask(opacity === 1 && kind !== "cone");
        gl.uniform1i(u.u_ball, kind === "ball" || kind === "diamond" ? 1 : 0);
        gl.bindVertexArray(this.shape[kind].array);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
        gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(data), gl.DYNAMIC_DRAW);
        gl.drawElementsInstanced(gl.TRIANGLES, this.shape[kind].count, gl.UNSIGNED_SHORT, 0, data.length / FLOATS);
      }
    }
    gl.depthFunc(gl.LEQUAL);
    gl.depthMask(true);
    gl.bindVertexArray(null);
  }

  drawLabels(view) {
    this.runs.forEach((run, r) => {
      const label = this.labels[r], ended = run.failure && this.time >= run.time[run.time.length - 1];
      const several = this.runs.length > 1;
      label.textContent = several ? run.label + (ended ? `: ${run.failure}` : "") : ended ? run.failure : "";
      label.classList.toggle("failed", Boolean(ended));
      const com = this.blend(run.com, this.drawn[r].at, 0, run), p = mat.apply(view, vec.add(com, [0, 0, (0.52 + (this.runs.length > 3 ? 0.14 * (r % 3) : 0)) * this.data.size]));
      label.style.left = `${50 + 50 * clamp(p[0], -0.95, 0.95)}%`;
      label.style.top = `${50 - 50 * clamp(p[1], -0.95, 0.93)}%`;
      label.hidden = !label.textContent || p[3] <= 0;
    });
  }
}
