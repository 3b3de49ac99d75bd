/** The button that sets an alert on a symbol. Its dialog comes when it is first opened. */
import { BellPlus } from 'lucide-preact';
import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';

interface DialogProps {
  readonly symbol: string;
  readonly onClose: () => void;
}

/** A bell next to a symbol; nothing for tokens that may not set alerts. */
export function AlertButton({
  symbol,
  class: name = 'icon-button',
}: {
  readonly symbol: string;
  readonly class?: string;
}) {
  const broker = useBroker();
  const [opened, setOpened] = useState<{ readonly Dialog?: ComponentType<DialogProps> }>({});
  if (!broker.may('trade') || broker.claims.isEntry) return null;
  return (
    <>
      <button
        type="button"
        class={name}
        aria-label={`Set an alert on ${symbol}`}
        title="Set an alert"
        onClick={() => {
          void import('./set-alert.tsx').then(({ AlertDialog }) => setOpened({ Dialog: AlertDialog }));
        }}
      >
        <BellPlus size={15} aria-hidden="true" />
      </button>
      {opened.Dialog !== undefined && <opened.Dialog symbol={symbol} onClose={() => setOpened({})} />}
    </>
  );
}
