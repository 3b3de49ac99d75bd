/** VitePress's own theme, in the reader's system font. */
import theme from 'vitepress/theme-without-fonts';
import './style.css';

export default theme;
