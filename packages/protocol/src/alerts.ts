/** Price alerts of a simulation (D281). */
import type { Static } from 'typebox';
import { alertConditions, alertStatuses } from './enums.js';
import {
  anyText,
  choice,
  closed,
  instant,
  number,
  optional,
  parameters,
  price,
  text,
  uuid,
} from './fields.js';
import { pageFields, paged } from './paging.js';

const condition = choice(alertConditions, {
  description: '`ABOVE` fires at the level and above, `BELOW` at the level and below.',
});
const level = price({ description: 'Level, dollars per share or contract unit.', examples: [195] });
const note = text({ maxLength: 200, description: 'A note.' });

export const AlertBody = closed(
  'AlertBody',
  {
    symbol: text({ description: 'A listed symbol.', examples: ['AAPL'] }),
    condition,
    price: level,
    note: optional(note),
  },
  { examples: [{ symbol: 'AAPL', condition: 'ABOVE', price: 195 }] },
);
export type AlertBody = Static<typeof AlertBody>;

export const UpdateAlertBody = closed(
  'UpdateAlertBody',
  {
    condition: optional(condition),
    price: optional(level),
    note: optional(note),
  },
  { description: 'Omitted fields keep their values.', examples: [{ price: 200 }] },
);
export type UpdateAlertBody = Static<typeof UpdateAlertBody>;

export const Alert = closed('Alert', {
  alertId: uuid(),
  symbol: anyText({ description: 'Symbol; a change of the symbol renames it.', examples: ['AAPL'] }),
  condition,
  price: number({ description: 'Level in dollars; splits restate it while the alert is active.' }),
  note: optional(anyText()),
  status: choice(alertStatuses, {
    description:
      '`ACTIVE` until it fires. `FIRED` once the price was at or beyond the level. `ENDED`: the symbol is quoted no more.',
  }),
  createdAt: instant({ description: 'Simulated time.' }),
  firedAt: optional(instant({ description: 'Simulated time at which it fired.' })),
  firedPrice: optional(number({ description: 'Price in dollars at which it fired.' })),
});
export type Alert = Static<typeof Alert>;

export const AlertQuery = parameters({
  ...pageFields,
  status: optional(choice(alertStatuses, { description: 'Only alerts with this status.' })),
});
export type AlertQuery = Static<typeof AlertQuery>;

export const AlertPage = paged('AlertPage', Alert, 'Alerts, newest first.');
export type AlertPage = Static<typeof AlertPage>;

export const DeletedAlert = closed('DeletedAlert', { alertId: anyText(), message: anyText() });
export type DeletedAlert = Static<typeof DeletedAlert>;
