import type { Instant } from '@sandpit/core';
import {
  type Calendar,
  type Delay,
  type Ids,
  type OutcomeMatch as CoreMatch,
  type OutcomeRule,
  type Script,
  type ScriptedRefusal,
  type ScriptPiece,
} from '@sandpit/core';
import type { OutcomeEffect, OutcomeMatch, ScriptedOutcome } from '@sandpit/protocol';
import { scriptedCodes, scriptedFigures } from '@sandpit/protocol';
import { plainSymbol } from './instruments.js';
import { lengthMs } from './instants.js';
import { priceNumber, priceOf, quantityNumber, quantityOf } from './numbers.js';

/** A percentage travels as a number and is counted in 1/10,000 of a percent. */
const PERCENT_UNITS = 10_000;

/** The orders that a body names. */
export function outcomeMatchOf(
  { symbol, quantity, ...match }: OutcomeMatch,
  calendar: Calendar,
  now: Instant,
): CoreMatch {
  return {
    ...match,
    ...(symbol !== undefined && { symbol: plainSymbol(symbol, calendar.dateOf(now)) }),
    ...(quantity !== undefined && { quantity: quantityOf(quantity) }),
  };
}

/** The script described by a body. Its times are lengths: a day is 24 hours. */
export function scriptOf(outcome: OutcomeEffect, now: Instant): Script {
  const delay = (text: string): Delay => ({ ms: lengthMs(text, now), text });
  const { reject, rejectLater, fill, rest, hold, onCancel, error } = outcome;
  if (reject !== undefined) return { type: 'REJECT', refusal: refusalOf(reject) };
  if (rejectLater !== undefined) {
    const { after } = rejectLater;
    return {
      type: 'REJECT_LATER',
      refusal: refusalOf(rejectLater),
      ...(after !== undefined && { after: delay(after) }),
    };
  }
  if (fill !== undefined)
    return {
      type: 'FILL',
      pieces: fill.map(({ quantity, percent, price, after }): ScriptPiece => ({
        ...(quantity !== undefined && { quantity: quantityOf(quantity) }),
        ...(percent !== undefined && { percent: Math.round(percent * PERCENT_UNITS) }),
        ...(price !== undefined && { price: priceOf(price) }),
        ...(after !== undefined && { after: delay(after) }),
      })),
      ...(rest !== undefined && { rest: RESTS[rest] }),
    };
  if (hold !== undefined) return { type: 'HOLD', ...(hold.for !== undefined && { lasts: delay(hold.for) }) };
  if (onCancel !== undefined) return { type: 'ON_CANCEL', effect: EFFECTS[onCancel] };
  return { type: 'ERROR', ...(error?.message !== undefined && { message: error.message }) };
}

const RESTS = { market: 'MARKET', hold: 'HOLD', cancel: 'CANCEL' } as const;
const EFFECTS = { fill: 'FILL', ignore: 'IGNORE', reject: 'REJECT' } as const;

type Reject = NonNullable<OutcomeEffect['reject']>;

function refusalOf(given: Reject): ScriptedRefusal {
  const figures: Record<string, string | number> = {};
  for (const name of scriptedFigures) {
    const figure = given[name];
    if (figure !== undefined) figures[name] = figure;
  }
  return {
    code: 'SCRIPTED',
    shownAs: given.code,
    ...(given.message !== undefined && { message: given.message }),
    ...(Object.keys(figures).length > 0 && { figures }),
  };
}

/** A rule as it travels. */
export const shownOutcome = (
  ids: Ids,
  { number, match, skip, times, used, script }: OutcomeRule,
): ScriptedOutcome => {
  const { quantity, ...rest } = match;
  return {
    outcomeId: ids.idOf('OUTCOME', number),
    match: { ...rest, ...(quantity !== undefined && { quantity: quantityNumber(quantity) }) },
    skip,
    times,
    used,
    outcome: shownScript(script),
  };
};

function shownScript(script: Script): OutcomeEffect {
  switch (script.type) {
    case 'REJECT':
      return { reject: shownRefusal(script.refusal) };
    case 'REJECT_LATER':
      return {
        rejectLater: {
          ...shownRefusal(script.refusal),
          ...(script.after !== undefined && { after: script.after.text }),
        },
      };
    case 'FILL':
      return {
        fill: script.pieces.map(({ quantity, percent, price, after }) => ({
          ...(quantity !== undefined && { quantity: quantityNumber(quantity) }),
          ...(percent !== undefined && { percent: percent / PERCENT_UNITS }),
          ...(price !== undefined && { price: priceNumber(price) }),
          ...(after !== undefined && { after: after.text }),
        })),
        ...(script.rest !== undefined && { rest: lower(script.rest) }),
      };
    case 'HOLD':
      return { hold: script.lasts === undefined ? {} : { for: script.lasts.text } };
    case 'ON_CANCEL':
      return { onCancel: lower(script.effect) };
    case 'ERROR':
      return { error: script.message === undefined ? {} : { message: script.message } };
  }
}

const lower = <Text extends string>(text: Text): Lowercase<Text> => text.toLowerCase() as Lowercase<Text>;

function shownRefusal({ shownAs, message, figures }: ScriptedRefusal): Reject {
  const code = scriptedCodes.find((one) => one === shownAs);
  if (code === undefined) throw new Error(`No outcome refuses with ${shownAs}`);
  return { code, ...(message !== undefined && { message }), ...figures };
}
