/** Numbers of a run's portfolio, as its brokers name it. */
import type { ServedBroker } from './served-brokers.js';

interface TradierProfile {
  readonly profile: { readonly account: TradierAccount | readonly TradierAccount[] };
}
interface TradierAccount {
  readonly account_number: string;
}

/** Asks the dialects whose clients need an account number. The token opens the one portfolio. */
export async function accountNumbersOf(
  url: string,
  token: string,
  brokers: readonly ServedBroker[],
): Promise<ReadonlyMap<string, string>> {
  const numbers = new Map<string, string>();
  const tradier = brokers.find(({ name }) => name === 'tradier');
  if (tradier === undefined) return numbers;
  const reply = await fetch(`${url}${tradier.prefix}/v1/user/profile`, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
  });
  // A server may serve fewer dialects than are installed here.
  if (!reply.ok) return numbers;
  const [account] = [((await reply.json()) as TradierProfile).profile.account].flat();
  if (account !== undefined) numbers.set(tradier.name, account.account_number);
  return numbers;
}
