/** Short notices in the corner, announced by screen readers: fills, calls, refusals. */
import { normalizeProps, useMachine } from '@zag-js/preact';
import * as toast from '@zag-js/toast';
import { X } from 'lucide-preact';
import { useId } from 'preact/hooks';

/** Away from the ticket and its button: it is at the right, and on a phone at the bottom. */
const placement =
  typeof matchMedia === 'function' && matchMedia('(max-width: 900px)').matches ? 'top' : 'bottom-start';
const store = toast.createStore({ placement, max: 4, overlap: false, gap: 8 });

export type Tone = 'info' | 'success' | 'warning' | 'error';

/** Shows and announces a notice; one of the same id is replaced. */
export function announce(title: string, description = '', type: Tone = 'info', id?: string): void {
  const options = { title, description, type, ...(id !== undefined && { id }) };
  if (id !== undefined && store.isVisible(id)) store.update(id, options);
  else store.create(options);
}

export function Toaster() {
  const service = useMachine(toast.group.machine, { id: useId(), store });
  const api = toast.group.connect(service, normalizeProps);
  return (
    <div {...api.getGroupProps({ label: 'Notifications' })}>
      {api.getToasts().map((one, index) => (
        <Toast key={one.id} options={one} index={index} parent={service} />
      ))}
    </div>
  );
}

function Toast({
  options,
  index,
  parent,
}: {
  readonly options: toast.Props;
  readonly index: number;
  readonly parent: toast.GroupService;
}) {
  const service = useMachine(toast.machine, { ...options, parent, index } as never);
  const api = toast.connect(service, normalizeProps);
  const { title, description } = api as { readonly title?: string; readonly description?: string };
  return (
    <div {...api.getRootProps()}>
      <div class="toast" data-type={api.type}>
        <div>
          <strong {...api.getTitleProps()}>{title}</strong>
          {description !== '' && <p {...api.getDescriptionProps()}>{description}</p>}
        </div>
        <button {...api.getCloseTriggerProps()} type="button" class="icon-button" aria-label="Dismiss">
          <X size={16} aria-hidden="true" />
        </button>
      </div>
    </div>
  );
}
