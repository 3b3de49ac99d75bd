/** VitePress's own theme, in the reader's system font. */
import theme from 'vitepress/theme-without-fonts';
import './style.css';

/** Pages that readers look up last: they answer by number what a guide or a rule page explains. */
const LAST = /\/docs\/contract(\/|#|$)/;
const boostDocument = (id) => (LAST.test(id) ? 0.1 : 1);

export default {
  ...theme,
  enhanceApp({ siteData, ...context }) {
    theme.enhanceApp?.({ siteData, ...context });
    // Set here, since a function in the configuration reaches the page as text, which the content security policy does not execute.
    siteData.value.themeConfig.search.options = { miniSearch: { searchOptions: { boostDocument } } };
  },
};
