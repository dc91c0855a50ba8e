// What the service says, kept current by its events. Views read it, and hear of changes by name:
// "connection", "totals", "model", "trainer", "report", "history".

import { ApiProblem, ask } from "./api.js";

const EVENTS = "/api/v1/events";
// Seconds to wait before trying again, the last one for ever.
const WAITS = [1, 2, 3, 5];
// Seconds after which a page that nobody sees stops listening: a browser has few connections to a host.
const UNSEEN = 10;
const MOST_POINTS = 2000;

export function liveState() {
  const listeners = new Map();
  const state = {
    status: null,
    report: null,
    // Reports that arrived since the page was opened, and the shares in the first of them.
    n_reports: 0,
    opened: { time: null, shares: new Map() },
    step: null,
    // How fast documents arrive, as events said: {time, documents}.
    rates: [],
    // The retention is null before the first answer.
    history: { items: [], retention: null },
    connection: { state: "connecting", since: null },
    on,
    start,
    stop,
    loadHistory,
  };
  let source = null;
  let waiting = null;
  let watchdog = null;
  let pausing = null;
  let attempts = 0;
  let heard = 0;
  let interval = 10;
  let fetching = null;
  let wanted = null;

  function on(name, listener) {
    if (!listeners.has(name)) listeners.set(name, new Set());
    listeners.get(name).add(listener);
    return () => listeners.get(name).delete(listener);
  }

  function emit(name) {
    for (const listener of [...(listeners.get(name) ?? [])]) listener(state);
  }

  async function start() {
    state.status = await ask("status");
    for (const name of ["totals", "model", "trainer"]) emit(name);
    connect();
    watchdog = setInterval(watch, 2000);
    addEventListener("visibilitychange", onVisibility);
    for (const loading of [loadReport(), loadHistory()]) loading.catch(passOver);
  }

  function stop() {
    source?.close();
    source = null;
    clearTimeout(waiting);
    clearTimeout(pausing);
    clearInterval(watchdog);
    removeEventListener("visibilitychange", onVisibility);
  }

  function onVisibility() {
    clearTimeout(pausing);
    if (document.hidden) pausing = setTimeout(pause, 1000 * UNSEEN);
    else if (state.connection.state === "paused") connect();
  }

  function pause() {
    source?.close();
    source = null;
    clearTimeout(waiting);
    state.connection = { state: "paused", since: Date.now() / 1000 };
    emit("connection");
  }

  // --- the stream of events

  function connect() {
    source?.close();
    clearTimeout(waiting);
    heard = Date.now();
    source = new EventSource(EVENTS);
    source.onerror = () => cut();
    for (const [name, handler] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => {
        heard = Date.now();
        handler(JSON.parse(event.data));
      });
    }
  }

  // A browser tries again by itself only after some errors; so this does it after all of them.
  function cut() {
    source?.close();
    source = null;
    if (state.connection.state !== "cut") {
      state.connection = { state: "cut", since: Date.now() / 1000 };
      emit("connection");
    }
    clearTimeout(waiting);
    waiting = setTimeout(again, 1000 * WAITS[Math.min(attempts++, WAITS.length - 1)]);
  }

  async function again() {
    try {
      const session = await ask("session");
      // Asks for a token, if the session has ended meanwhile.
      if (session.required && !session.authenticated) await ask("status");
      connect();
    } catch (error) {
      if (error.status !== 401) cut();
    }
  }

  // Comments that keep a stream open are not seen here. If nothing was heard for long, ask.
  async function watch() {
    if (source === null || Date.now() - heard < 2000 * interval) return;
    heard = Date.now();
    try {
      await ask("session");
    } catch (error) {
      cut();
    }
  }

  const handlers = {
    hello(event) {
      interval = event.interval;
      attempts = 0;
      const before = state.connection.state;
      state.connection = { state: "live", since: Date.now() / 1000 };
      emit("connection");
      if (before === "cut" || before === "paused") refresh().catch(passOver);
    },
    totals(event) {
      state.status.totals = event.totals;
      state.status.rate = event.rate;
      add(state.rates, { time: event.time, documents: event.rate.documents });
      addPoint({ time: event.time, documents: event.totals.documents });
      emit("totals");
    },
    step(event) {
      state.step = event;
      emit("model");
    },
    score(event) {
      addPoint({ time: event.time, score: event.score });
      emit("history");
    },
    model(event) {
      state.status.model = event.model;
      emit("model");
    },
    topics(event) {
      state.status.report = event.report;
      if (state.report?.computed !== event.report.computed) loadReport().catch(passOver);
    },
    trainer(event) {
      state.status.trainer = event.trainer;
      state.status.training = event.training;
      emit("trainer");
    },
  };

  async function refresh() {
    state.step = null;
    state.status = await ask("status");
    for (const name of ["totals", "model", "trainer"]) emit(name);
    await Promise.all([loadReport(), loadHistory()]);
  }

  // --- what is asked for

  // One request at a time; what changes meanwhile is asked for once more.
  function loadReport() {
    if (fetching !== null) {
      wanted = true;
      return fetching;
    }
    fetching = fetchReport().finally(() => {
      fetching = null;
      if (wanted) {
        wanted = null;
        loadReport().catch(passOver);
      }
    });
    return fetching;
  }

  async function fetchReport() {
    // Before the first report there is nothing to ask for.
    if (state.status.report === null) return emit("report");
    const found = await ask("report");
    if (state.report?.computed === found.computed) return;
    if (state.report === null) {
      state.opened.time = Date.now() / 1000;
      for (const topic of found.topics) state.opened.shares.set(topic.topic, topic.share);
    }
    state.report = found;
    state.n_reports += 1;
    emit("report");
  }

  let since = null;

  // History from a time on; without one, what was asked for last.
  async function loadHistory(from = since) {
    since = from;
    const found = await ask("history", { query: { since: from ?? Date.now() / 1000 - 86400, limit: 500 } });
    const last = found.items.at(-1)?.time ?? 0;
    const newer = state.history.items.filter((point) => point.time > last);
    state.history = { items: [...found.items, ...newer], retention: found.retention };
    emit("history");
  }

  function addPoint(point) {
    const { items } = state.history;
    const last = items.at(-1);
    // Totals come four times a second: one point a second is enough.
    if (last?.live && point.score === undefined && last.score === undefined && point.time - last.time < 1) items.pop();
    add(items, { live: true, ...point });
  }

  function add(list, point) {
    list.push(point);
    if (list.length > MOST_POINTS) list.splice(0, list.length - MOST_POINTS);
  }

  return state;
}

// What went wrong is said by the connection, or by the next event; other errors are ours.
function passOver(error) {
  if (!(error instanceof ApiProblem)) throw error;
}
