/** The export file of a tenant (D170): a line about the tenant, the files of its simulations one after the other, and an end. */
import type { Tier } from '@sandpit/core';
import { ImportRefused } from './import-refused.js';
import {
  closedObject,
  listOf,
  objectIn,
  oneOf,
  optionally,
  requireFields,
  textUpTo,
  when,
  wholeNumber,
} from './file-fields.js';
import { LineChain, SimulationFileReader } from './simulation-file.js';
import type { FileLine } from './simulation-file.js';

const FORMAT = 1;

/** A tenant as a file has it: without keys, tokens or secrets. */
export interface FiledTenant {
  readonly tenantId: string;
  readonly name: string;
  readonly tier: Tier;
  readonly scope: string;
  /** Wall-clock ms. */
  readonly createdAt: number;
  readonly webhooks?: readonly FiledWebhook[];
}

/** A webhook as a file has it: without its secret and its deliveries. */
export interface FiledWebhook {
  readonly url: string;
  readonly events: readonly string[];
  readonly simulationId: string;
  readonly description?: string;
}

export const tenantLine = (tenant: FiledTenant): string =>
  JSON.stringify({ type: 'tenant', format: FORMAT, ...tenant });

/** `hash`: of a chain of the first line and of each simulation's trailer. */
export const endLine = (simulations: number, hash: string): string =>
  JSON.stringify({ type: 'end', simulations, hash });

/** True when a line is about the tenant as a whole. */
export const isKnownTenantLine = (line: string): boolean => /^\{"type":"(tenant|end)",/.test(line);

/** Reads the lines of a tenant's file in order, and checks that they are whole. Throws `ImportRefused`. */
export class TenantFileReader {
  readonly #chain = new LineChain();
  #tenant: FiledTenant | undefined;
  #simulation: SimulationFileReader | undefined;
  #isOver = false;
  #simulations = 0;

  get tenant(): FiledTenant {
    if (this.#tenant === undefined) throw new ImportRefused('the file has no tenant');
    return this.#tenant;
  }

  /** The simulation that the lines are of now. */
  get simulation(): SimulationFileReader | undefined {
    return this.#simulation;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Parses a line of the current simulation; undefined for a line about the tenant. */
  read(line: string): FileLine | undefined {
    if (this.#isOver) throw new ImportRefused('lines follow the end');
    if (this.#tenant === undefined) {
      this.#tenant = tenantIn(line);
      this.#chain.take(line);
      return undefined;
    }
    if (this.#simulation === undefined && isKnownTenantLine(line)) {
      const fields = objectIn(line);
      requireFields(fields, end, 'the end');
      const { simulations, hash } = fields;
      if (simulations !== this.#simulations || hash !== this.#chain.hash)
        throw new ImportRefused('the end of the file does not match what is before it: the file is damaged');
      this.#isOver = true;
      return undefined;
    }
    this.#simulation ??= new SimulationFileReader();
    const read = this.#simulation.read(line);
    if (read.type === 'trailer') {
      this.#chain.take(line);
      this.#simulations += 1;
      this.#simulation = undefined;
    }
    return read;
  }
}

/** Longest text of a webhook. */
const LONGEST_TEXT = 2048;
const MOST_WEBHOOKS = 20;
const MOST_EVENTS = 100;

const name = when((value) => typeof value === 'string' && /^[^\p{C}]{1,256}$/u.test(value));
const scope = when((value) => typeof value === 'string' && /^[a-z]{0,32}( [a-z]{1,32}){0,9}$/.test(value));

const webhook = closedObject<FiledWebhook>({
  url: when((value) => typeof value === 'string' && value.length <= LONGEST_TEXT && URL.canParse(value)),
  events: listOf(MOST_EVENTS, textUpTo(LONGEST_TEXT)),
  simulationId: textUpTo(LONGEST_TEXT),
  description: optionally(textUpTo(LONGEST_TEXT)),
});

const tenant = closedObject<FiledTenant & { type: string; format: number }>({
  type: oneOf('tenant'),
  format: oneOf(FORMAT),
  tenantId: name,
  name,
  tier: oneOf('BASIC', 'PRO', 'ENTERPRISE'),
  scope,
  createdAt: wholeNumber(0, Number.MAX_SAFE_INTEGER),
  webhooks: optionally(listOf(MOST_WEBHOOKS, webhook)),
});

const end = closedObject<{ type: string; simulations: number; hash: string }>({
  type: oneOf('end'),
  simulations: wholeNumber(0, Number.MAX_SAFE_INTEGER),
  hash: textUpTo(LONGEST_TEXT),
});

function tenantIn(line: string): FiledTenant {
  const fields = objectIn(line);
  if (fields.type !== 'tenant') throw new ImportRefused('the first line is not about a tenant');
  if (fields.format !== FORMAT)
    throw new ImportRefused(`the file is not of a known format (this server knows format ${FORMAT})`);
  requireFields(fields, tenant, 'the tenant');
  const {
    type: _,
    format: __,
    ...filed
  } = fields as unknown as FiledTenant & { type: string; format: number };
  // As the parser writes it (D237).
  const webhooks = filed.webhooks?.map((one) => ({ ...one, url: new URL(one.url).href }));
  return { ...filed, ...(webhooks !== undefined && { webhooks }) };
}
