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
if (root !== null) render(<App />, root);
