/** The command palette: pages, actions, symbols and search results, by typing. */
import * as combobox from '@zag-js/combobox';
import * as dialog from '@zag-js/dialog';
import { normalizeProps, useMachine } from '@zag-js/preact';
import { useEffect, useId, useMemo, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { type Hit, search } from '../parts/search.ts';
import { go } from '../route.ts';
import { commands, DOCUMENTS } from './commands.ts';
import { Portal } from '../ui/portal.tsx';

/** Pause in typing after which the server is queried. */
const QUIET_MS = 150;

export function Palette({ onClose, onHelp }: { readonly onClose: () => void; readonly onHelp: () => void }) {
  const broker = useBroker();
  const [text, setText] = useState('');
  const [found, setFound] = useState<readonly Hit[]>([]);
  const own = useMemo(() => commands(broker, onHelp), [broker]);
  useEffect(() => {
    let isOver = false;
    const timer = setTimeout(
      () => {
        search(broker, text).then(
          (hits) => {
            if (!isOver) setFound(hits);
          },
          () => undefined,
        );
      },
      text === '' ? 0 : QUIET_MS,
    );
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [broker, text]);
  const wanted = text.trim().toLowerCase();
  const isWanted = ({ title }: Hit): boolean => title.toLowerCase().includes(wanted);
  // The documentation is long: it comes when something is typed, after what the server found.
  const hits = [...own.filter(isWanted), ...found, ...(wanted === '' ? [] : DOCUMENTS.filter(isWanted))];
  // A whole symbol comes before the pages that contain its letters.
  hits.sort((a, b) => Number(b.exact?.toLowerCase() === wanted) - Number(a.exact?.toLowerCase() === wanted));
  const collection = combobox.collection({
    items: hits,
    itemToValue: ({ id }) => id,
    itemToString: ({ title }) => title,
  });
  const close = useMachine(dialog.machine, {
    id: useId(),
    open: true,
    'aria-label': 'Command palette',
    onOpenChange: ({ open }) => {
      if (!open) onClose();
    },
  });
  const frame = dialog.connect(close, normalizeProps);
  const service = useMachine(combobox.machine, {
    id: useId(),
    collection,
    open: true,
    inputBehavior: 'autohighlight',
    selectionBehavior: 'preserve',
    loopFocus: true,
    // The list is always open: Escape closes the palette.
    onOpenChange: ({ reason }) => {
      if (reason === 'escape-key') onClose();
    },
    onInputValueChange: ({ inputValue }) => setText(inputValue),
    onValueChange: ({ items: [chosen] }) => {
      const hit = chosen as Hit | undefined;
      if (hit === undefined) return;
      onClose();
      if (hit.href !== undefined) go(hit.href);
      hit.act?.();
    },
  });
  const api = combobox.connect(service, normalizeProps);
  return (
    <Portal>
      <div {...frame.getBackdropProps()} class="backdrop" />
      <div {...frame.getPositionerProps()} class="positioner">
        <div {...frame.getContentProps()} class="dialog palette">
          <div {...api.getRootProps()}>
            <div {...api.getControlProps()}>
              <input
                {...api.getInputProps()}
                aria-label="Search"
                placeholder="Symbol, company, portfolio, order id, page or rule"
              />
            </div>
            <div {...api.getContentProps()} aria-label="Results">
              {hits.map((hit) => (
                <div key={hit.id} {...api.getItemProps({ item: hit })}>
                  <span>{hit.title}</span>
                  <span class="kind">{hit.kind}</span>
                </div>
              ))}
            </div>
            {hits.length === 0 && (
              <p role="status" class="notice">
                Nothing found for “{text}”.
              </p>
            )}
          </div>
        </div>
      </div>
    </Portal>
  );
}
