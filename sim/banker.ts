import type { Chance } from './chance.js';
import type { Answer, Client } from './client.js';
import type { Tally } from './tally.js';

/** A request that has one effect, however often it is sent. */
interface Sent {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly key: string;
}

interface Transfer {
  readonly reason: string;
  readonly cents: number;
  readonly entryId: string;
}

/**
 * A client that moves money in and out and opens, renames and deletes accounts until its server dies; afterwards every acknowledged
 * transfer must be in the ledger once, and every account in its acknowledged state. No other client uses its portfolio.
 */
export class Banker {
  readonly problems: string[] = [];
  private readonly portfolioId: string;
  private readonly initialCents: number;
  private readonly client: Client;
  private readonly chance: Chance;
  private readonly tally: Tally;
  private readonly transfers: Transfer[] = [];
  /** Names that an account may have; `DELETED` if it may be deleted. */
  private readonly accounts = new Map<string, Set<string>>();
  private unanswered: Sent | undefined;
  private sent = 0;

  constructor(
    portfolio: { readonly portfolioId: string; readonly initialCents: number },
    client: Client,
    chance: Chance,
    tally: Tally,
  ) {
    this.portfolioId = portfolio.portfolioId;
    this.initialCents = portfolio.initialCents;
    this.client = client;
    this.chance = chance;
    this.tally = tally;
  }

  async trade(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const draw = this.chance.next();
      if (draw < 0.6) await this.transfer();
      else if (draw < 0.75) await this.openAccount();
      else if (draw < 0.95) await this.renameAccount();
      else await this.deleteAccount();
    }
  }

  async reconcile(): Promise<void> {
    const { unanswered } = this;
    if (unanswered !== undefined) {
      const { replayed } = await this.post(unanswered);
      if (replayed) this.tally.recovered++;
    }
    await this.compareTransfers();
    const known = [...this.accounts.keys()];
    for (let i = 0; i < 5 && known.length > 0; i++) await this.compareAccount(this.chance.pick(known));
  }

  async reconcileAll(): Promise<void> {
    await this.compareTransfers();
    for (const accountId of this.accounts.keys()) await this.compareAccount(accountId);
  }

  private async transfer(): Promise<void> {
    const cents = this.chance.int(-5_000, 10_000) || 1;
    const reason = `transfer ${++this.sent}`;
    const path = `/v1/accounts/portfolios/${this.portfolioId}/transfers`;
    await this.post({ path, body: { amount: cents / 100, reason }, key: `bank-${this.sent}` });
  }

  private async openAccount(): Promise<void> {
    const accountId = this.chance.uuid();
    const body = { accountId, name: `account ${++this.sent}` };
    await this.post({ path: '/v1/accounts', body, key: `bank-${this.sent}` });
  }

  private async post(sent: Sent): Promise<Answer> {
    this.tally.requests++;
    this.unanswered = sent;
    const answer = await this.client.ask('POST', sent.path, sent.body, sent.key);
    if (answer.status >= 500) throw new Error(`POST ${sent.path} answered ${answer.status}`);
    this.unanswered = undefined;
    if (answer.status !== 201) return answer;
    this.tally.acks++;
    const { accountId, name, reason, amount } = sent.body as Readonly<Record<string, string>> & {
      readonly amount: number;
    };
    if (accountId !== undefined && name !== undefined) this.accounts.set(accountId, new Set([name]));
    if (reason !== undefined) {
      const { entryId } = answer.body as { readonly entryId: string };
      this.transfers.push({ reason, cents: Math.round(amount * 100), entryId });
    }
    return answer;
  }

  private async renameAccount(): Promise<void> {
    const [accountId, names] = this.anyAccount();
    if (accountId === undefined) return;
    const name = `renamed ${++this.sent}`;
    names.add(name);
    await this.change('PUT', accountId, { name }, names, name);
  }

  private async deleteAccount(): Promise<void> {
    const [accountId, names] = this.anyAccount();
    if (accountId === undefined) return;
    names.add(DELETED);
    await this.change('DELETE', accountId, undefined, names, DELETED);
  }

  private async change(
    method: string,
    accountId: string,
    body: object | undefined,
    names: Set<string>,
    becomes: string,
  ): Promise<void> {
    this.tally.requests++;
    const { status } = await this.client.ask(method, `/v1/accounts/${accountId}`, body);
    if (status >= 500) return;
    if (status === 200) {
      this.tally.acks++;
      names.clear();
      names.add(becomes);
    } else if (!names.has(DELETED) || status !== 404) {
      this.problems.push(`${method} of account ${accountId} answered ${status}`);
    }
  }

  private anyAccount(): readonly [string | undefined, Set<string>] {
    const there = [...this.accounts].filter(([, names]) => !names.has(DELETED));
    return there.length === 0 ? [undefined, new Set()] : this.chance.pick(there);
  }

  /** By now every transfer has its answer: the ledger has these and no other. */
  private async compareTransfers(): Promise<void> {
    const path = `/v1/accounts/portfolios/${this.portfolioId}`;
    const { items, total } = await this.client.list<{
      readonly entryId: string;
      readonly description: string;
    }>(`${path}/ledger`);
    const there = new Map(items.map(({ entryId, description }) => [entryId, description]));
    for (const { entryId, reason } of this.transfers) {
      if (there.get(entryId) === reason) continue;
      this.tally.lost++;
      this.problems.push(
        `${reason} was acknowledged and is "${there.get(entryId) ?? 'nothing'}" in the ledger`,
      );
    }
    // The first entry is the initial cash.
    if (total !== this.transfers.length + 1) {
      if (total > this.transfers.length + 1) this.tally.doubled++;
      this.problems.push(`the ledger has ${total} entries after ${this.transfers.length} transfers`);
    }
    const { settledCash } = (await this.client.get(path)) as { readonly settledCash: number };
    const cents = this.transfers.reduce((sum, transfer) => sum + transfer.cents, this.initialCents);
    if (Math.round(settledCash * 100) !== cents)
      this.problems.push(`${settledCash} dollars are there, ${cents / 100} were transferred`);
  }

  private async compareAccount(accountId: string): Promise<void> {
    const names = this.accounts.get(accountId);
    if (names === undefined) return;
    const { status, body } = await this.client.ask('GET', `/v1/accounts/${accountId}`);
    const is = status === 404 ? DELETED : (body as { readonly name?: string }).name;
    if (names.has(is ?? '')) {
      names.clear();
      names.add(is ?? '');
      return;
    }
    this.tally.lost++;
    this.problems.push(`account ${accountId} is ${String(is)}, not ${[...names].join(' or ')}`);
  }
}

const DELETED = 'deleted';
