/** A button that opens a menu of actions. */
import * as menu from '@zag-js/menu';
import { normalizeProps, useMachine } from '@zag-js/preact';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Portal } from './portal.tsx';

export interface MenuItem {
  readonly id: string;
  readonly title: string;
  readonly act: () => void;
}

export function Menu({
  label,
  items,
  children,
  class: name = 'icon-button',
}: {
  /** The accessible name of the button. */
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly children: ComponentChildren;
  readonly class?: string;
}) {
  const service = useMachine(menu.machine, {
    id: useId(),
    'aria-label': label,
    onSelect: ({ value }) => items.find(({ id }) => id === value)?.act(),
  });
  const api = menu.connect(service, normalizeProps);
  return (
    <>
      <button {...api.getTriggerProps()} type="button" class={name} aria-label={label} title={label}>
        {children}
      </button>
      {api.open && (
        <Portal>
          <div {...api.getPositionerProps()}>
            <div {...api.getContentProps()} class="menu">
              {items.map(({ id, title }) => (
                <div key={id} {...api.getItemProps({ value: id })}>
                  {title}
                </div>
              ))}
            </div>
          </div>
        </Portal>
      )}
    </>
  );
}
