/** Help: the keys, and where to read on. */
import { Dialog } from '../ui/dialog.tsx';
import { KEYS } from './keys.ts';

export const Help = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title="Help" onClose={onClose}>
    <h3>Keys</h3>
    <dl class="keys">
      {KEYS.map(([keys, does]) => (
        <div key={keys}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
    <p class="dim small">Single-letter keys are inactive in forms and dialogs.</p>
    <h3>Read on</h3>
    <ul class="plain">
      <li>
        <a href="/docs/dashboard">The dashboard, page by page</a>
      </li>
      <li>
        <a href="/docs/quickstart">Quickstart</a>
      </li>
      <li>
        <a href="/docs/">Rules, how-tos and tutorials</a>
      </li>
      <li>
        <a href="/docs/api/">API reference</a>
      </li>
    </ul>
  </Dialog>
);
