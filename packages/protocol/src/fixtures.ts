import type { Static } from 'typebox';
import { anyText, choice, closed, instant, listOf, uuid } from './fields.js';

export const fixtureNames = ['every-status', 'active-trader', 'options-desk', 'retirement'] as const;

export const FixtureBody = closed('FixtureBody', {
  name: choice([...fixtureNames], { description: 'The book to fill the simulation with.' }),
});
export type FixtureBody = Static<typeof FixtureBody>;

export const FixtureDescription = closed('FixtureDescription', {
  name: choice([...fixtureNames]),
  description: anyText(),
  holds: listOf(anyText(), { description: 'Contents of the simulation afterwards.' }),
});

export const FixtureList = closed('FixtureList', { data: listOf(FixtureDescription) });
export type FixtureList = Static<typeof FixtureList>;

export const FilledFixture = closed('FilledFixture', {
  name: choice([...fixtureNames]),
  now: instant({ description: 'Clock of the simulation afterwards.' }),
  holds: listOf(anyText(), { description: 'Contents of the simulation.' }),
  portfolios: listOf(
    closed('FixturePortfolio', { portfolioId: uuid(), accountId: uuid(), name: anyText() }),
    { description: 'Open portfolios, in the order in which they were opened.' },
  ),
});
export type FilledFixture = Static<typeof FilledFixture>;
