// The 3D replay: robots side by side on their ground, with forces and special points.

const LAYERS = { forces: true, pushes: true, cones: false, cop: true, zmp: true, com: true, support: true, trace: false, follow: true, overlay: false };

class Replay extends Camera {
  constructor(canvas, labels, data) {
    super(canvas, data);
    this.runs = data.runs;
    this.order = this.runs.map((_, r) => r); // in which the cells stand
    this.hidden = new Set();
    this.layers = { ...LAYERS };
    this.gain = 1;
    this.time = 0;
    this.drawn = [];
    this.labels = this.runs.map(() => {
      const label = document.createElement("div");
      label.className = "robot-label";
      label.innerHTML = `<i class="swatch"></i><span class="name"></span><span class="state"></span>`;
      labels.append(label);
      return label;
    });
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
  blend(array, at, k) {
    const width = array.shape[array.shape.length - 1], row = rowLength(array), out = [];
    for (let i = 0; i < width; i++) {
      const a = array[at.first * row + k * width + i], b = array[at.second * row + k * width + i];
      const between = mix(a, b, at.weight);
      out.push(Number.isNaN(between) ? array[at.nearest * row + k * width + i] : between);
    }
    return out;
  }

  quaternion(run, at, body) {
    const array = run.body_quaternion, row = rowLength(array), p = at.first * row + 4 * body, q = at.second * row + 4 * body;
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

  // Everything that is drawn of a run at the present time: bodies, instances of shapes, polygons.
  arrange(run) {
    const size = this.data.size, theme = this.theme, on = this.layers, zero = [0, 0, 0];
    const shapes = { arrow: [], cone: [], ball: [], diamond: [] };
    const add = (kind, base, vector, color, radius, head = 1, opacity = 1) =>
      shapes[kind].push(...base, ...vector, ...color, opacity, radius, head);
    const modes = ["mode-open", "mode-stick", "mode-slide"].map(theme.rgb);
    const [cop, zmp, com] = ["cop", "zmp", "com"].map(theme.rgb);
    const at = this.at(run, this.time), count = run.mode.shape[1];
    const drawn = { at, shapes, arrows: new Map(), pushes: [], touches: [], bodies: [], polygon: null };
    for (let b = 0; b < run.body_position.shape[1]; b++)
      drawn.bodies.push({ move: this.blend(run.body_position, at, b), turn: this.quaternion(run, at, b) });
    const closed = [];
    for (let p = 0; p < count; p++) {
      const mode = run.mode[at.nearest * count + p];
      if (!mode) continue;
      const base = this.blend(run.point, at, p), normal = this.normal(run, at, p);
      closed.push(base);
      const row = 3 * (at.nearest * count + p);
      const apart = run.mode[at.first * count + p] !== run.mode[at.second * count + p];
      const force = apart ? [...run.force.slice(row, row + 3)] : this.blend(run.force, at, p);
      const arrow = vec.scale(force, this.data.scale * this.gain);
      if (on.forces && vec.norm(arrow) > 0) {
        drawn.arrows.set(p, shapes.arrow.length);
        add("arrow", base, arrow, modes[mode], 0.009 * size);
      }
      const high = vec.dot(arrow, normal);
      if (on.cones && high > 0) add("cone", base, vec.scale(normal, high), modes[mode], run.friction * high, 1, 0.22);
    }
    // Where bodies touch each other: action and reaction. The live view does not send them.
    const touches = on.forces && run.touchMode ? run.touchMode.shape[1] : 0;
    for (let c = 0; c < touches; c++) {
      const row = at.nearest * touches + c, mode = run.touchMode[row];
      if (!mode) continue;
      const [place, force] = [run.touchPlace, run.touchForce].map((array) => [...array.slice(3 * row, 3 * row + 3)]);
      for (const way of [1, -1]) add("arrow", place, vec.scale(force, way * this.data.scale * this.gain), modes[mode], 0.009 * size);
      drawn.touches.push(vec.norm(force));
    }
    const pushes = run.pushForce ? [{ body: run.pushed, force: [...run.pushForce.slice(3 * at.nearest, 3 * at.nearest + 3)], start: -Infinity, end: Infinity }] : run.pushes;
    pushes.forEach((push, k) => {
      if (!on.pushes || this.time < push.start || this.time >= push.end || !vec.norm(push.force)) return;
      // Drawn to the point where it acts; never so short that it is missed.
      const drawnForce = vec.scale(push.force, this.data.scale * this.gain), least = 0.16 * size;
      const arrow = vec.scale(drawnForce, Math.max(1, least / vec.norm(drawnForce)));
      add("arrow", vec.sub(this.blend(run.push_point, at, k), arrow), arrow, theme.rgb("push"), 0.016 * size);
      drawn.pushes.push(push);
    });
    const lift = (p) => [p[0], p[1], p[2] + 0.0015 * size];
    if (on.support && closed.length) {
      drawn.polygon = hull(closed).map(lift);
      drawn.polygon.forEach((corner, i, all) => add("arrow", corner, vec.sub(all[(i + 1) % all.length], corner), theme.rgb("support"), 0.005 * size, 0));
    }
    const defined = (p) => !p.some(Number.isNaN);
    if (on.cop) {
      const feet = run.cop.shape[1], whole = this.blend(run.overall_cop, at, 0);
      for (let f = 0; f < feet && feet > 1; f++) {
        const centre = this.blend(run.cop, at, f);
        if (defined(centre)) add("ball", centre, zero, cop, 0.009 * size);
      }
      if (defined(whole)) add("ball", whole, zero, cop, 0.015 * size);
    }
    const moment = this.blend(run.zmp, at, 0);
    if (on.zmp && defined(moment)) add("diamond", moment, zero, zmp, 0.021 * size);
    if (on.com) {
      const centre = this.blend(run.com, at, 0), below = this.blend(run.com_ground, at, 0);
      add("ball", centre, zero, com, 0.02 * size);
      if (defined(below)) {
        add("arrow", centre, vec.sub(below, centre), com, 0.004 * size, 0, 0.7);
        add("ball", below, zero, com, 0.008 * size);
      }
    }
    if (on.trace)
      for (const [array, color] of [[run.overall_cop, cop], [run.com, com]]) {
        let last = null;
        const step = Math.max(1, Math.floor(at.first / 400));
        for (let i = 0; i <= at.first; i += step) {
          const p = [array[3 * i], array[3 * i + 1], array[3 * i + 2]];
          if (defined(p) && last) add("arrow", last, vec.sub(p, last), color, 0.004 * size, 0, 0.85);
          last = defined(p) ? p : null;
        }
      }
    return drawn;
  }

  // The force drawn at a point, read back from what is drawn: N; null where no arrow is.
  arrow(point, run = 0) {
    const drawn = this.drawn[run], start = drawn.arrows.get(point);
    if (start === undefined) return null;
    const all = drawn.shapes.arrow, scale = this.data.scale * this.gain;
    return {
      base: all.slice(start, start + 3),
      force: [3, 4, 5].map((i) => all[start + i] / scale),
      mode: this.runs[run].mode[drawn.at.nearest * this.runs[run].mode.shape[1] + point],
    };
  }

  // ---- drawing ----

  draw() {
    const gl = this.gl, canvas = this.canvas, ratio = Math.min(window.devicePixelRatio || 1, this.software ? 1 : 2);
    if (gl.isContextLost()) return;
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    this.theme = readTheme();
    this.drawn = this.runs.map((run) => this.arrange(run));
    this.views = this.cells(canvas.clientWidth, canvas.clientHeight);
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor(...this.theme.rgb("edge"), 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    this.views.forEach((cell) => this.drawCell(cell, ratio));
    gl.disable(gl.SCISSOR_TEST);
    this.drawLabels();
  }

  drawCell(cell, ratio) {
    const gl = this.gl, camera = this.camera, size = this.data.size, gap = this.views.length > 1 ? 1 : 0;
    const middle = this.centre(cell.runs), target = vec.add(middle, camera.pan), c = Math.cos(camera.pitch);
    const distance = this.distance(cell.width / cell.height);
    const eye = vec.add(target, vec.scale([Math.cos(camera.yaw) * c, Math.sin(camera.yaw) * c, Math.sin(camera.pitch)], distance));
    const view = mat.mul(
      mat.perspective(camera.fov, cell.width / cell.height, 0.02 * distance, distance + 60 * size),
      mat.look(eye, target, [0, 0, 1]),
    );
    const sun = vec.unit([0.35, -0.8, 1.1]), reach = 1.6 * size;
    const light = mat.mul(mat.box(reach, 3 * reach), mat.look(vec.add(middle, vec.scale(sun, reach)), middle, [0, 1, 0]));
    const scene = { view, light, sun, target: middle, runs: cell.runs };
    cell.eye = eye;
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    gl.disable(gl.SCISSOR_TEST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadow);
    gl.viewport(0, 0, 1024, 1024);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    this.drawRobots(this.program.shadow, { ...scene, view: light });
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    const box = [cell.x + gap, this.canvas.clientHeight - cell.y - cell.height + gap, cell.width - 2 * gap, cell.height - 2 * gap].map((p) => Math.round(p * ratio));
    gl.viewport(...box);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(...box);
    gl.clearColor(...this.theme.rgb("sky"), 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.drawGround(scene);
    this.drawRobots(this.program.mesh, scene);
    this.drawShapes(scene);
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
    gl.uniform1f(u.u_reach, 4 * size);
    gl.uniform4f(u.u_turn, 1, 0, 0, 0);
    gl.uniform3f(u.u_move, 0, 0, 0);
    for (const ground of new Set(scene.runs.map((r) => this.runs[r].ground))) {
      const mesh = this.grounds[ground];
      gl.bindVertexArray(mesh.array);
      gl.drawElements(gl.TRIANGLES, mesh.count, mesh.type, 0);
    }
    gl.uniform1i(u.u_ground, 0);
  }

  drawRobots(program, scene) {
    const gl = this.gl, u = this.begin(program, scene), ghosts = scene.runs.length > 1;
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    for (const r of scene.runs) {
      // In one place robots are told apart by their colour, and seen through.
      if (u.u_ghost) gl.uniform4f(u.u_ghost, ...(ghosts ? this.theme.number(this.theme.palette[r % this.theme.palette.length]) : [0, 0, 0]), ghosts ? 0.5 : 0);
      this.drawn[r].bodies.forEach(({ move, turn }, b) => {
        const mesh = this.robots[this.runs[r].robot][b];
        gl.uniform3fv(u.u_move, move);
        gl.uniform4fv(u.u_turn, turn);
        gl.bindVertexArray(mesh.array);
        gl.drawElements(gl.TRIANGLES, mesh.count, mesh.type, 0);
      });
    }
  }

  drawShapes(scene) {
    const gl = this.gl;
    gl.depthMask(false);
    const flat = this.begin(this.program.flat, scene);
    gl.uniform4f(flat.u_color, ...this.theme.rgb("support"), 0.22);
    gl.bindVertexArray(this.polygon.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.polygon.buffer);
    const drawn = scene.runs.map((r) => this.drawn[r]);
    for (const { polygon: corners } of drawn) {
      if (!corners) continue;
      gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(corners.flat()), gl.DYNAMIC_DRAW);
      gl.drawArrays(gl.TRIANGLE_FAN, 0, corners.length);
    }
    const u = this.begin(this.program.shape, scene);
    // What lies behind the robot shows through it, faintly: pressure centres are under the soles.
    for (const [compare, opacity] of [[gl.GREATER, 0.38], [gl.LEQUAL, 1]]) {
      gl.depthFunc(compare);
      gl.uniform1f(u.u_opacity, opacity);
      for (const kind of ["arrow", "ball", "diamond", "cone"]) {
        const data = drawn.flatMap((one) => one.shapes[kind]);
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

  // What stands over each cell: the law, and what is happening to the robot now.
  drawLabels() {
    const several = this.runs.length > 1;
    this.labels.forEach((label) => (label.hidden = true));
    for (const cell of this.views)
      cell.runs.forEach((r, i) => {
        const run = this.runs[r], label = this.labels[r], [swatch, name, state] = label.children;
        const ended = run.failure && this.time >= run.time[run.time.length - 1], fell = run.fall !== null && this.time >= run.fall;
        const pushed = several ? [] : this.drawn[r].pushes.map((push) => `push ${vec.norm(push.force).toPrecision(3)} N on ${push.body}`);
        swatch.hidden = !several;
        swatch.style.background = this.theme.palette[r % this.theme.palette.length];
        name.textContent = several ? run.label : "";
        state.textContent = [...pushed, ...(ended ? [run.failure] : fell ? [`fell at ${run.fall.toFixed(3)} s`] : [])].join(", ");
        label.classList.toggle("failed", Boolean(ended || fell));
        label.hidden = !several && !state.textContent;
        Object.assign(label.style, { left: `${cell.x + 8}px`, top: `${cell.y + 7 + 26 * i}px`, maxWidth: `${cell.width - 16}px` });
      });
  }
}
