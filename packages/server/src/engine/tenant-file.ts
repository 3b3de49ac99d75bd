/** The export file of a tenant (D170): a line about the tenant, the files of its simulations one after the other, and an end. */
import type { Tier } from '@sandpit/core';
import { ImportRefused } from './import-refused.js';
import { LineChain, objectIn, SimulationFileReader, textIn } from './simulation-file.js';
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

const TIERS: ReadonlySet<unknown> = new Set<Tier>(['BASIC', 'PRO', 'ENTERPRISE']);

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
      const { type, simulations, hash } = objectIn(line);
      if (type !== 'end' || simulations !== this.#simulations || hash !== this.#chain.hash)
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

function tenantIn(line: string): FiledTenant {
  const fields = objectIn(line);
  if (fields.type !== 'tenant') throw new ImportRefused('the first line is not about a tenant');
  if (fields.format !== FORMAT)
    throw new ImportRefused(`the file is not of a known format (this server knows format ${FORMAT})`);
  const { tier, createdAt } = fields;
  if (!TIERS.has(tier) || !Number.isSafeInteger(createdAt))
    throw new ImportRefused('tier or createdAt of the tenant is not usable here');
  return {
    tenantId: textIn(fields, 'tenantId'),
    name: textIn(fields, 'name'),
    tier: tier as Tier,
    scope: textIn(fields, 'scope'),
    createdAt: createdAt as number,
    webhooks: webhooksIn(fields.webhooks),
  };
}

/** Longest text of a webhook. */
const LONGEST_TEXT = 2048;
const MOST_WEBHOOKS = 20;

function webhooksIn(given: unknown): readonly FiledWebhook[] {
  if (given === undefined) return [];
  const isText = (value: unknown): value is string =>
    typeof value === 'string' && value.length <= LONGEST_TEXT;
  const isWebhook = (value: unknown): value is FiledWebhook => {
    const { url, events, simulationId, description } = (value ?? {}) as Record<string, unknown>;
    const isDescribed = description === undefined || isText(description);
    const hasEvents = Array.isArray(events) && events.length <= 100 && events.every(isText);
    return isText(url) && URL.canParse(url) && isText(simulationId) && hasEvents && isDescribed;
  };
  if (!Array.isArray(given) || given.length > MOST_WEBHOOKS || !given.every(isWebhook))
    throw new ImportRefused('the webhooks of the tenant are not usable here');
  return given.map(({ url, events, simulationId, description }) => ({
    url,
    events,
    simulationId,
    ...(description !== undefined && { description }),
  }));
}
