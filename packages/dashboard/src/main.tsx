import { render } from 'preact';
import { App } from './app.tsx';
import './design/tokens.css';
import './design/pages.css';
import './design/shell.css';
import './design/trade.css';
import './design/fonts.ts';
import { applyTheme } from './theme.ts';
import { ignoreAccidentalRepeats } from './ui/accidental-repeats.ts';

applyTheme();
ignoreAccidentalRepeats();
const root = document.getElementById('app');
const [, door, code = ''] = /^\/(join|return)\/([^/]+)$/.exec(location.pathname) ?? [];
if (root !== null && door === undefined) render(<App />, root);
else if (root !== null)
  void import('./invite/entrance.tsx').then(({ Entrance }) =>
    render(<Entrance door={door as 'join' | 'return'} code={decodeURIComponent(code)} />, root),
  );
