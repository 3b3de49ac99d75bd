/** The calls behind the page: each as curl, TypeScript and Python, its last response, and the tail of the streams. */
import { X } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { quantity } from '../format.ts';
import { onStreams, streamTail } from '../live/stream.ts';
import { PerFrame } from '../load.ts';
import { Copy } from '../parts/copy.tsx';
import { Tabs } from '../parts/field.tsx';
import { keepAnswers, onRequest, type RequestNote, requestNotes } from '../requests.ts';
import { asCurl, asPython, asTypeScript, operationOf } from './call-code.ts';
import './dev.css';

const SHOWS = [
  ['curl', 'curl'],
  ['typescript', 'TypeScript'],
  ['python', 'Python'],
  ['answer', 'Last answer'],
  ['stream', 'Streams'],
] as const;

/** The page's periodic requests are omitted. */
const OF_FRAME: ReadonlySet<string> = new Set(['getMarketHours', 'getClock', 'getReadiness']);

interface Row {
  readonly key: string;
  readonly name: string;
  readonly note: RequestNote;
  readonly count: number;
}

/** The latest request of each kind, latest first. */
export function rowsOf(notes: readonly RequestNote[], sinceMs: number): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const note of notes) {
    const id = operationOf(note)?.id;
    if (note.atMs < sinceMs || (id !== undefined && OF_FRAME.has(id))) continue;
    const key = `${note.method} ${note.path}`;
    const known = rows.get(key);
    if (known === undefined) rows.set(key, { key, name: id ?? note.path, note, count: 1 });
    else
      rows.set(key, {
        ...known,
        count: known.count + 1,
        // The answer of a request that is still under way is that of the one before.
        note:
          known.note.answer === undefined && note.answer !== undefined
            ? { ...known.note, answer: note.answer }
            : known.note,
      });
  }
  return [...rows.values()];
}

export function DeveloperPanel({ page, onClose }: { readonly page: string; readonly onClose: () => void }) {
  const [notes, setNotes] = useState(requestNotes);
  const [tail, setTail] = useState(streamTail);
  const [show, setShow] = useState<string>('curl');
  const [chosen, setChosen] = useState('');
  const [pageSince, setPageSince] = useState(() => ({ page, sinceMs: 0 }));
  useEffect(() => {
    if (pageSince.page !== page) setPageSince({ page, sinceMs: Date.now() - 300 });
  }, [page]);
  useEffect(() => {
    keepAnswers(true);
    const showRequests = new PerFrame(() => setNotes(requestNotes()));
    const showStreams = new PerFrame(() => setTail(streamTail()));
    const stops = [onRequest(() => showRequests.ask()), onStreams(() => showStreams.ask())];
    return () => {
      keepAnswers(false);
      showRequests.end();
      showStreams.end();
      for (const stop of stops) stop();
    };
  }, []);
  const rows = rowsOf(notes, pageSince.sinceMs);
  const row = rows.find(({ key }) => key === chosen) ?? rows[0];
  const text = row === undefined ? '' : textOf(show, row.note);
  return (
    <aside class="developer-panel" aria-label="Calls behind this page">
      <header class="row">
        <h2>Calls behind this page</h2>
        <Tabs label="Shown" value={show} options={SHOWS} onChange={setShow} />
        <span class="push" />
        {show !== 'stream' && text !== '' && <Copy name="Copy" of={`as ${show}`} text={text} />}
        <button type="button" class="icon-button" aria-label="Close the developer panel" onClick={onClose}>
          <X size={18} aria-hidden="true" />
        </button>
      </header>
      {show === 'stream' ? (
        <ol class="plain tail" aria-label="Last events" tabIndex={0}>
          {tail.map(({ number, stream, event, atMs }) => (
            <li key={number}>
              <code>
                <span class="dim">{new Date(atMs).toISOString().slice(11, 23)}</span>{' '}
                <strong>{stream}</strong> {JSON.stringify(event)}
              </code>
            </li>
          ))}
          {tail.length === 0 && <li class="dim">No event yet.</li>}
        </ol>
      ) : (
        <div class="calls">
          <ul class="plain" aria-label="Calls">
            {rows.map(({ key, name, note, count }) => (
              <li key={key}>
                <button
                  type="button"
                  aria-pressed={key === row?.key}
                  title={`${note.method} ${note.path}`}
                  onClick={() => setChosen(key)}
                >
                  <span class={note.status >= 400 || note.status === 0 ? 'down' : 'dim'}>
                    {note.status === 0 ? '–' : note.status}
                  </span>{' '}
                  {name} <span class="dim">{count > 1 && `× ${quantity(count)}`}</span>
                </button>
              </li>
            ))}
            {rows.length === 0 && <li class="dim">No calls yet.</li>}
          </ul>
          <pre tabIndex={0} aria-label={row === undefined ? 'Call' : `${row.name} as ${show}`}>
            <code>{text === '' ? 'This call was not recorded. The next one will be.' : text}</code>
          </pre>
        </div>
      )}
    </aside>
  );
}

function textOf(show: string, note: RequestNote): string {
  switch (show) {
    case 'typescript':
      return asTypeScript(note) ?? asCurl(note);
    case 'python':
      return asPython(note) ?? asCurl(note);
    case 'answer':
      return indented(note.answer);
    default:
      return asCurl(note);
  }
}

function indented(text = ''): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
