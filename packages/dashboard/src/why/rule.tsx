/** The page of a rule, next to the content it explains. */
import { CircleHelp } from 'lucide-preact';
import { type RuleName, ruleNamed, type RulePage } from './rule-pages.ts';
import './rule.css';

/** Shows a page in the panel at the side. */
export const openPage = (page: RulePage): void => {
  dispatchEvent(new CustomEvent('rule', { detail: page }));
};

/** A button that opens the page of a rule next to the current page. */
export const Rule = ({ name, children }: { readonly name: RuleName; readonly children?: string }) => (
  <PageButton page={ruleNamed(name)}>{children}</PageButton>
);

/** A button that opens a page of the documentation next to the current page. */
export const PageButton = ({
  page,
  children,
}: {
  readonly page: RulePage;
  readonly children?: string | undefined;
}) => (
  <button
    type="button"
    class={children === undefined ? 'rule-button' : 'link'}
    aria-label={children === undefined ? `Rule: ${page.title}` : undefined}
    title={page.title}
    onClick={() => openPage(page)}
  >
    {children ?? <CircleHelp size={14} aria-hidden="true" />}
  </button>
);
