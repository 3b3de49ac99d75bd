import { createHash } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import pg from 'pg';
import { TAKE_OVER_GATE } from './take-over-gate.js';

/**
 * The tables of a cluster, read with SQL, JSON and SHA-256 alone. Every node has its own database user, and a trigger notes which user
 * inserted a block and which node the cell belonged to at that moment: what a node commits after it has lost a cell is seen.
 */

const LOOK_MS = 200;

const LOG = `
  CREATE SCHEMA audit;
  CREATE TABLE audit.commit (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cell integer, first bigint, epoch bigint, by_node text, head_epoch bigint, of_node text
  );
  CREATE FUNCTION audit.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO audit.commit (cell, first, epoch, by_node, head_epoch, of_node)
      SELECT NEW.cell, NEW.first, NEW.epoch, session_user, h.epoch, i.node
        FROM (SELECT 1) AS one LEFT JOIN sandpit.head h ON h.cell = NEW.cell LEFT JOIN sandpit.incarnation i ON i.id = h.incarnation;
    RETURN NULL;
  END $$;
  CREATE TRIGGER note AFTER INSERT ON sandpit.block FOR EACH ROW EXECUTE FUNCTION audit.note();
  ${TAKE_OVER_GATE}`;

interface Head {
  readonly cell: number;
  readonly incarnation: string | null;
  readonly epoch: string;
  readonly seq: string;
}

interface BlockRow {
  readonly cell: number;
  readonly first: string;
  readonly last: string;
  readonly epoch: string;
  readonly hash: Buffer;
  readonly data: Buffer;
}

/** An order as the journal has it. */
export interface JournalOrder {
  readonly portfolioId: string;
  readonly clientOrderId?: string;
  /** In shares. */
  readonly quantity: number;
  /** Sequence of its record. */
  readonly seq: number;
}

/** An auditor of the tables of a cluster while it runs and after it has ended. */
export class CommitLog {
  readonly problems: string[] = [];
  /** Times that the heads were looked at. */
  looks = 0;
  readonly #url: () => string;
  readonly #heads = new Map<number, Head>();
  /** `cell epoch` to its incarnation. */
  readonly #owners = new Map<string, string>();
  #isOver = false;

  /** `url`: of the database at its present primary. */
  constructor(url: () => string) {
    this.#url = url;
  }

  /** Begins to note commits. The tables are there. */
  async begin(): Promise<void> {
    await this.#use((client) => client.query(LOG));
  }

  /** Looks at the heads until `end`: no epoch and no sequence goes back, and an epoch of a cell belongs to one incarnation. */
  async watch(): Promise<void> {
    while (!this.#isOver) {
      try {
        await this.#use(async (client) => {
          while (!this.#isOver) {
            const { rows } = await client.query<Head>(
              'SELECT cell, incarnation, epoch, seq FROM sandpit.head',
            );
            for (const head of rows) this.#see(head);
            this.looks++;
            await after(LOOK_MS);
          }
        });
      } catch {
        // The database is down.
        await after(LOOK_MS);
      }
    }
  }

  end(): void {
    this.#isOver = true;
  }

  /** Checks all blocks and who wrote them. Returns the orders of all cells. */
  async check(): Promise<{
    readonly orders: readonly JournalOrder[];
    readonly commits: number;
    readonly epochs: number;
  }> {
    return this.#use(async (client) => {
      const { rows: blocks } = await client.query<BlockRow>(
        'SELECT cell, first, last, epoch, hash, data FROM sandpit.block ORDER BY cell, first',
      );
      const orders = this.#checkBlocks(blocks);
      const { rows: heads } = await client.query<Head & { hash: Buffer }>('SELECT * FROM sandpit.head');
      for (const { cell, epoch, seq, hash } of heads) {
        const last = blocks.findLast((block) => block.cell === cell);
        if (last === undefined) continue;
        if (last.last !== seq || !last.hash.equals(hash))
          this.problems.push(`cell ${cell}: its head is at ${seq}, its last block at ${last.last}`);
        if (Number(last.epoch) > Number(epoch))
          this.problems.push(`cell ${cell}: a block of epoch ${last.epoch}, the head has ${epoch}`);
      }
      const { rows: strange } = await client.query<Record<string, string>>(
        'SELECT * FROM audit.commit WHERE of_node IS DISTINCT FROM by_node OR epoch IS DISTINCT FROM head_epoch',
      );
      for (const { cell, first, epoch, by_node: by, head_epoch: headEpoch, of_node: of } of strange)
        this.problems.push(
          `cell ${cell}: ${by} committed block ${first} in epoch ${epoch}; the cell was ${of}'s in epoch ${headEpoch}`,
        );
      const epochs = new Set(blocks.map(({ cell, epoch }) => `${cell} ${epoch}`)).size;
      return { orders, commits: blocks.length, epochs };
    });
  }

  #checkBlocks(blocks: readonly BlockRow[]): readonly JournalOrder[] {
    const orders: JournalOrder[] = [];
    let before: BlockRow | undefined;
    for (const block of blocks) {
      const { cell, first, last, epoch, data } = block;
      if (before?.cell !== cell) before = undefined;
      const expected = Number(before?.last ?? 0) + 1;
      if (Number(first) !== expected)
        this.problems.push(`cell ${cell}: block ${first} where ${expected} is expected`);
      if (Number(epoch) < Number(before?.epoch ?? 0))
        this.problems.push(`cell ${cell}: block ${first} of epoch ${epoch} behind epoch ${before?.epoch}`);
      const start = createHash('sha256').update(`sandpit simulation ${cell}`).digest();
      const hash = createHash('sha256')
        .update(before?.hash ?? start)
        .update(`${epoch} ${first} ${last}\n`)
        .update(data)
        .digest();
      if (!hash.equals(block.hash))
        this.problems.push(`cell ${cell}: block ${first} is not the one that its hash names`);
      before = block;
      for (const line of data.toString('utf8').split('\n')) {
        if (line === '') continue;
        const { seq, events } = JSON.parse(line) as RecordLine;
        for (const { type, request } of events)
          if ((type === 'OrderAccepted' || type === 'OrderRejected') && request !== undefined)
            orders.push({ ...request, quantity: request.quantity / 1e6, seq });
      }
    }
    return orders;
  }

  #see(head: Head): void {
    const { cell, epoch, seq, incarnation } = head;
    const before = this.#heads.get(cell);
    if (before !== undefined && Number(epoch) < Number(before.epoch))
      this.problems.push(`cell ${cell}: its epoch went from ${before.epoch} back to ${epoch}`);
    if (before !== undefined && Number(seq) < Number(before.seq))
      this.problems.push(`cell ${cell}: its head went from ${before.seq} back to ${seq}`);
    this.#heads.set(cell, head);
    if (incarnation === null) return;
    const name = `${cell} ${epoch}`;
    const owner = this.#owners.get(name) ?? incarnation;
    this.#owners.set(name, owner);
    if (owner !== incarnation)
      this.problems.push(`cell ${cell}: incarnations ${owner} and ${incarnation} both had epoch ${epoch}`);
  }

  async #use<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: this.#url() });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

interface RecordLine {
  readonly seq: number;
  readonly events: readonly {
    readonly type: string;
    readonly request?: Omit<JournalOrder, 'seq'>;
  }[];
}
