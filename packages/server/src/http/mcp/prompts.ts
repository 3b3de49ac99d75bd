/** Prompts: tasks a person can start from the menu of an MCP host. */

interface Argument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

export interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly Argument[];
  readonly text: string;
}

const PORTFOLIO: Argument = {
  name: 'portfolioId',
  description: 'The portfolio; without it the agent asks.',
  required: false,
};

const symbol = (description: string): Argument => ({ name: 'symbol', description, required: true });

const ALL: readonly Prompt[] = [
  {
    name: 'review_portfolio',
    title: 'Review a portfolio',
    description: 'Summarizes positions, risk, open orders and margin, with suggestions.',
    arguments: [PORTFOLIO],
    text: 'Review portfolio {portfolioId}. Read get_portfolio with margin and marginCalls, list_positions and the open orders. Report equity, cash, buying power, the three largest positions by market value, profit and loss, margin excess, and what would happen to the margin excess if the largest position fell by 10 %. Do not place orders.',
  },
  {
    name: 'plan_trade',
    title: 'Plan a trade',
    description: 'Turns an idea into one previewed order.',
    arguments: [
      symbol('The symbol to trade.'),
      { name: 'goal', description: 'What the trade is for, in your words.', required: true },
      PORTFOLIO,
    ],
    text: 'Plan a trade in {symbol} for portfolio {portfolioId}. Goal: {goal}. Read the quote, recent bars and market hours, propose one order with its limit price and size, and call preview_order. Show charges, margin impact and the reasons against it. Place the order only after I confirm.',
  },
  {
    name: 'covered_call',
    title: 'Sell a covered call',
    description: 'Finds a call to sell against shares that the portfolio holds.',
    arguments: [symbol('The underlying.'), PORTFOLIO],
    text: 'Find a covered call on {symbol} for portfolio {portfolioId}. Check with list_positions that at least 100 shares are held and free. From get_option_chain compare three calls with 20 to 45 days to expiration and a delta from 0.20 to 0.35: premium, annualized return, price at which the shares are called away. Preview the best one. Place it only after I confirm.',
  },
  {
    name: 'explain_order',
    title: 'Explain an order',
    description: 'Explains why an order filled, waits or was refused.',
    arguments: [{ name: 'orderId', description: 'The order.', required: true }],
    text: 'Explain order {orderId}. Read get_order: its status, waitingFor or rejectReason, and each execution with the quote and the rule that justified it. Quote the rule page (resource) that applies.',
  },
];

export const PROMPTS: ReadonlyMap<string, Prompt> = new Map(ALL.map((prompt) => [prompt.name, prompt]));

/** A prompt as `prompts/list` shows it. */
export const describe = ({ name, title, description, arguments: given }: Prompt) => ({
  name,
  title,
  description,
  arguments: [...given],
});

/** The message of a prompt. The text asks for missing arguments. */
export function promptText({ text }: Prompt, given: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) =>
    Object.hasOwn(given, name)
      ? String(given[name])
      : `(ask me for the ${name}, or find it with list_accounts)`,
  );
}
