/** Panels of which one is seen, chosen by tabs. */
import { normalizeProps, useMachine } from '@zag-js/preact';
import * as tabs from '@zag-js/tabs';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

export interface Panel {
  readonly id: string;
  readonly title: string;
  /** Drawn only while its tab is chosen. */
  readonly content: () => ComponentChildren;
}

export function TabPanels({
  label,
  panels,
  value,
  onChange,
}: {
  readonly label: string;
  readonly panels: readonly Panel[];
  readonly value: string;
  readonly onChange: (id: string) => void;
}) {
  const chosen = panels.find(({ id }) => id === value) ?? panels[0];
  const service = useMachine(tabs.machine, {
    id: useId(),
    value: chosen?.id ?? null,
    onValueChange: (details) => onChange(details.value),
  });
  const api = tabs.connect(service, normalizeProps);
  return (
    <div {...api.getRootProps()} class="tab-panels">
      <div {...api.getListProps()} class="tab-list" aria-label={label}>
        {panels.map(({ id, title }) => (
          <button key={id} {...api.getTriggerProps({ value: id })} type="button">
            {title}
          </button>
        ))}
      </div>
      {panels.map(({ id, content }) => (
        <div key={id} {...api.getContentProps({ value: id })}>
          {id === chosen?.id && content()}
        </div>
      ))}
    </div>
  );
}
