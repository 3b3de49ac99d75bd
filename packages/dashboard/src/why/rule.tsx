/** The page of a rule, beside what it explains. */
import { CircleHelp } from 'lucide-preact';
import './rule.css';

/** A page below `/docs/rules/`, with its title. */
export const RULES = {
  cash: ['cash-and-ledger', 'Cash and ledger'],
  settlement: ['settlement', 'Settlement'],
  reservations: ['reservations', 'Reservations'],
  regT: ['margin-reg-t', 'Regulation T margin'],
  portfolioMargin: ['portfolio-margin', 'Portfolio margin'],
  optionMargin: ['margin-options', 'Margin of options'],
  calls: ['margin-calls', 'Margin calls'],
  positions: ['positions-and-marks', 'Positions and marks'],
  performance: ['performance', 'Performance'],
  reset: ['reset', 'Reset'],
  accounts: ['accounts', 'Accounts and portfolios'],
  brokers: ['brokers', 'Brokers'],
  exercise: ['exercise-and-assignment', 'Exercise and assignment'],
  orderStatus: ['order-status', 'Status of orders'],
  fillModels: ['fill-models', 'Fill models'],
  futures: ['futures', 'Futures'],
} as const satisfies Readonly<Record<string, readonly [page: string, title: string]>>;

export type RuleName = keyof typeof RULES;

const openRule = (name: RuleName): void => {
  dispatchEvent(new CustomEvent('rule', { detail: name }));
};

/** A button that opens the page of a rule beside the page. */
export const Rule = ({ name, children }: { readonly name: RuleName; readonly children?: string }) => (
  <button
    type="button"
    class={children === undefined ? 'rule-button' : 'link'}
    aria-label={children === undefined ? `Rule: ${RULES[name][1]}` : undefined}
    title={RULES[name][1]}
    onClick={() => openRule(name)}
  >
    {children ?? <CircleHelp size={14} aria-hidden="true" />}
  </button>
);
