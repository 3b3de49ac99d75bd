/** The thread that watches the main thread: see `watchdog.ts`. */
import { writeSync } from 'node:fs';
import { type Debugger, Session } from 'node:inspector';
import { hostname } from 'node:os';
import { workerData } from 'node:worker_threads';
import type { WatchdogData } from './watchdog.js';

const { beats, limitMs, isJson, exitCode } = workerData as WatchdogData;
const view = new Int32Array(beats);
const LOOKS = 10;
/** The position of a main thread in native code is unknown; the process ends without it. */
const ASKED_FOR_MS = 5000;

/** Frames shown of the stack. */
const MOST_FRAMES = 30;

let missed = 0;
let last = Atomics.load(view, 0);

// Checks are counted, not the time between them: after a pause of the whole process or machine only one check is late.
const looking = setInterval(() => {
  const now = Atomics.load(view, 0);
  missed = now === last ? missed + 1 : 0;
  last = now;
  if (missed < LOOKS) return;
  clearInterval(looking);
  end();
}, limitMs / LOOKS);

function end(): void {
  const session = new Session();
  const timer = setTimeout(() => {
    tell([]);
    process.kill(process.pid, 'SIGKILL');
  }, ASKED_FOR_MS);
  session.connectToMainThread();
  const files = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params }) => files.set(params.scriptId, params.url));
  session.on('Debugger.paused', ({ params }) => {
    clearTimeout(timer);
    tell(params.callFrames.map((frame) => frameText(frame, files)));
    const [frame] = params.callFrames;
    if (frame === undefined) process.kill(process.pid, 'SIGKILL');
    else
      session.post('Debugger.evaluateOnCallFrame', {
        callFrameId: frame.callFrameId,
        // Suppresses Node's message on standard error about a waiting debugger.
        expression: `process.getBuiltinModule('node:fs').closeSync(2); process.reallyExit(${exitCode})`,
      });
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), ASKED_FOR_MS);
  });
  session.post('Debugger.enable');
  session.post('Debugger.pause');
}

function frameText(
  { functionName, location: { scriptId, lineNumber, columnNumber = 0 } }: Debugger.CallFrame,
  files: ReadonlyMap<string, string>,
): string {
  const name = functionName === '' ? '<anonymous>' : functionName;
  return `at ${name} (${files.get(scriptId) ?? '?'}:${lineNumber + 1}:${columnNumber + 1})`;
}

/** One line, past a logger that the main thread can no longer serve. */
function tell(frames: readonly string[]): void {
  const msg = `stopping: the main thread has been stuck for ${limitMs / 1000} s`;
  const stack = frames.slice(0, MOST_FRAMES);
  const line = isJson
    ? JSON.stringify({ level: 60, time: Date.now(), pid: process.pid, hostname: hostname(), msg, stack })
    : `sandpit: ${msg} ${stack.join(' < ')}`;
  writeSync(isJson ? 1 : 2, `${line}\n`);
}
