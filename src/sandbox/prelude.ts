// What runs in the engine before a script: it defines the script's globals. The text is JavaScript for QuickJS. It is evaluated to a
// function of the host's two callbacks and returns the functions the host calls. It keeps the built-ins it needs, because a script
// may replace them, and its own lists and reports inherit from nothing, because a script may add setters and toJSON to Object.prototype.

import { ERROR_CHARS, LOG_CHARS, LOG_LINES, TIMERS } from "./limits.ts";

/** The file name in stack traces; its lines are left out of those that people see. */
export const PRELUDE_FILE = "gsv:prelude";
/** A call that the engine answers itself. */
export const TIMER = "timer";

export const PRELUDE = `(function (hostCall, hostEnd) {
  "use strict";
  const { stringify, parse } = JSON;
  const { create, freeze, defineProperty, setPrototypeOf } = Object;
  const NativePromise = Promise, NativeError = Error, NativeTypeError = TypeError, toText = String;
  const isArray = Array.isArray;
  const cut = Function.prototype.call.bind(String.prototype.slice);
  const pending = create(null);
  const logs = setPrototypeOf([], null);
  let lastNumber = 0, logChars = 0, droppedLogs = 0;
  let defaultTarget, defaultCwd;

  // With it a script gets the functions of a stack trace, and so those of the host.
  delete NativeError.prepareStackTrace;

  function call(name, args) {
    const site = new NativeError("");
    return new NativePromise((resolve, reject) => {
      const json = stringify(args);
      const number = ++lastNumber;
      const refusal = hostCall(number, name, json === undefined ? "null" : json);
      if (refusal === undefined) pending[number] = { resolve, reject, site };
      else reject(withStack(refusal, site));
    });
  }

  function settle(number, isValue, text) {
    const waiting = pending[number];
    if (waiting === undefined) return;
    delete pending[number];
    if (isValue) return waiting.resolve(text === "" ? undefined : parse(text));
    waiting.reject(withStack(text, waiting.site));
  }

  function withStack(message, site) {
    const error = new NativeError(message);
    error.stack = site.stack;
    return error;
  }

  function isObject(value) {
    return typeof value === "object" && value !== null && !isArray(value);
  }

  function isAbsolute(path) {
    return path[0] === "/" || path[0] === "\\\\" || path[0] === "~" || (path[1] === ":" && /^[A-Za-z]$/.test(path[0]));
  }

  function joinPath(cwd, path) {
    const last = cwd[cwd.length - 1];
    return last === "/" || last === "\\\\" ? cwd + path : cwd + "/" + path;
  }

  function withDefaults(args, isFile) {
    const given = { ...args };
    if (given.target === undefined && defaultTarget !== undefined) given.target = defaultTarget;
    // The directory is one of the default target.
    const isElsewhere = given.target !== undefined && given.target !== (defaultTarget === undefined ? "gsv" : defaultTarget);
    if (defaultCwd === undefined || isElsewhere) return given;
    if (!isFile) return given.cwd === undefined ? { ...given, cwd: defaultCwd } : given;
    if (given.path === undefined) return { ...given, path: defaultCwd };
    return typeof given.path === "string" && !isAbsolute(given.path) ? { ...given, path: joinPath(defaultCwd, given.path) } : given;
  }

  function shell(input, options = {}) {
    if (!isObject(options)) throw new NativeTypeError("shell(input, options): options must be an object");
    const args = { ...options, input: input === undefined ? "" : input };
    return call("shell.exec", args.sessionId === undefined ? withDefaults(args, false) : args);
  }

  const fs = {};
  for (const name of ["read", "write", "edit", "delete", "search"])
    fs[name] = (args) => {
      if (!isObject(args)) throw new NativeTypeError("fs." + name + " takes an object, such as { path }");
      return call("fs." + name, withDefaults(args, true));
    };

  const parseIfJson = (text) => { try { return parse(text); } catch { return text; } };
  function unwrap(result) {
    if (!isObject(result)) return result;
    if ("toolResult" in result) return result.toolResult;
    const { content, structuredContent, isError } = result;
    let text = "", isText = isArray(content) && content.length > 0;
    if (isArray(content))
      for (let at = 0; at < content.length; at++) {
        const item = content[at];
        if (!isObject(item) || item.type !== "text" || typeof item.text !== "string") isText = false;
        else text += (text === "" ? "" : "\\n") + item.text;
      }
    if (isError) throw new NativeError(text === "" ? "The tool reports an error" : text);
    if (structuredContent !== undefined && structuredContent !== null) return structuredContent;
    return isText ? parseIfJson(text) : result;
  }

  function defineTool({ functionName, serverId, toolName }) {
    define(functionName, async (args) => {
      if (args !== undefined && !isObject(args)) throw new NativeTypeError(functionName + " takes an object");
      const result = await call("sys.mcp.call", setPrototypeOf({ serverId, name: toolName, arguments: args === undefined ? {} : args }, null));
      return unwrap(result);
    });
  }

  function show(value) {
    if (typeof value === "string") return value;
    try {
      if (value instanceof NativeError) return (value.name + ": " + value.message);
      const json = typeof value === "function" ? undefined : stringify(value);
      return json === undefined ? toText(value) : json;
    } catch {
      try { return toText(value); } catch { return "[a value that cannot be shown]"; }
    }
  }

  function logWith(prefix) {
    return (...values) => {
      let line = prefix;
      for (let at = 0; at < values.length; at++) line += (at === 0 ? "" : " ") + show(values[at]);
      if (logs.length >= ${LOG_LINES} || logChars + line.length > ${LOG_CHARS}) { droppedLogs++; return; }
      logChars += line.length;
      logs[logs.length] = line;
    };
  }

  const logError = logWith("[error] ");
  const timers = create(null);
  let lastTimer = 0, openTimers = 0;
  function setTimeout(run, ms = 0, ...args) {
    if (typeof run !== "function") throw new NativeTypeError("setTimeout takes a function");
    if (openTimers === ${TIMERS}) throw new NativeError("A script may have at most ${TIMERS} timers at a time");
    const delay = +ms;
    const timer = ++lastTimer;
    timers[timer] = true;
    openTimers++;
    const fire = async () => {
      await call("${TIMER}", setPrototypeOf({ ms: delay }, null));
      openTimers--;
      if (timers[timer] === undefined) return;
      delete timers[timer];
      try { run(...args); } catch (error) { logError("Uncaught " + show(error)); }
    };
    fire();
    return timer;
  }

  function define(name, value) {
    defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
  }

  function setGlobals(json) {
    const { target, cwd, argv, args, mcpTools = [] } = parse(json);
    defaultTarget = target;
    defaultCwd = cwd;
    define("argv", freeze(argv));
    define("args", args === undefined ? null : args);
    for (let at = 0; at < mcpTools.length; at++) {
      freeze(mcpTools[at]);
      defineTool(mcpTools[at]);
    }
    define("mcpTools", freeze(mcpTools));
  }

  function end(report, json) {
    if (droppedLogs > 0) logs[logs.length] = "[warn] " + droppedLogs + " more lines were left out";
    setPrototypeOf(report, null);
    report.logs = logs;
    hostEnd(stringify(report), json);
  }

  function endWithError({ error, name, stack }) {
    end({ isOk: false, error: cut(error, 0, ${ERROR_CHARS}), name: cut(name, 0, ${ERROR_CHARS}), stack: cut(stack, 0, ${ERROR_CHARS}) }, "null");
  }

  function describe(error) {
    try {
      if (isObject(error)) {
        const { message, name, stack } = error;
        if (typeof message === "string") return { error: message, name: toText(name), stack: typeof stack === "string" ? stack : "" };
      }
    } catch {}
    return { error: show(error), name: "", stack: "" };
  }

  async function start(main) {
    let value, json;
    try {
      value = await main();
    } catch (error) {
      return endWithError(describe(error));
    }
    try {
      json = stringify(value);
    } catch (error) {
      return endWithError({ error: "The result cannot be written as JSON: " + describe(error).error, name: "", stack: "" });
    }
    end({ isOk: true }, json === undefined ? "null" : json);
  }

  define("shell", shell);
  define("fs", freeze(fs));
  define("console", freeze({ log: logWith(""), info: logWith(""), debug: logWith(""), warn: logWith("[warn] "), error: logError }));
  define("setTimeout", setTimeout);
  define("clearTimeout", (timer) => { delete timers[timer]; });
  return { settle, setGlobals, start };
})`;
