/** A modal dialog: focus stays inside, and returns to its previous element on close. */
import * as dialog from '@zag-js/dialog';
import { normalizeProps, useMachine } from '@zag-js/preact';
import { X } from 'lucide-preact';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Portal } from './portal.tsx';

export function Dialog({
  title,
  onClose,
  children,
  isWide = false,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly isWide?: boolean;
}) {
  const service = useMachine(dialog.machine, {
    id: useId(),
    open: true,
    onOpenChange: ({ open }) => {
      if (!open) onClose();
    },
  });
  const api = dialog.connect(service, normalizeProps);
  return (
    <Portal>
      <div {...api.getBackdropProps()} class="backdrop" />
      <div {...api.getPositionerProps()} class="positioner">
        <div {...api.getContentProps()} class={isWide ? 'dialog wide' : 'dialog'}>
          <header>
            <h2 {...api.getTitleProps()}>{title}</h2>
            <button {...api.getCloseTriggerProps()} type="button" class="icon-button" aria-label="Close">
              <X size={18} aria-hidden="true" />
            </button>
          </header>
          {children}
        </div>
      </div>
    </Portal>
  );
}
