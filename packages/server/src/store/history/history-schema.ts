import { LENGTHS } from './history-rows.js';

/** SQL dialect of a database. */
export interface Dialect {
  readonly text: string;
  /** 64 bits. */
  readonly integer: string;
  /** Ends a table whose rows are in the order of its key. */
  readonly clustered: string;
}

/**
 * The tables of the past. Rows are in the order in which they are read and have running ordinals: a page is one range, a total is a stored
 * length. `history-rows.ts` describes the columns. A cell is a simulation by its key.
 *
 * A fork has rows of its own from its beginning on, and shows those of its ancestors before it: rows are bounded by the record that added
 * them (`seq` of orders and items, `first` of minutes).
 */
export const historyTables = ({ text, integer, clustered }: Dialect): string => `
  CREATE TABLE history_cell (
    cell ${integer} PRIMARY KEY,
    seq ${integer} NOT NULL,
    format ${integer} NOT NULL,
    proof ${text} NOT NULL
  )${clustered};

  CREATE TABLE history_owner (
    cell ${integer} NOT NULL,
    id ${text} NOT NULL,
    ${LENGTHS.map((list) => `${list} ${integer} NOT NULL,`).join('\n    ')}
    ${LENGTHS.map((list) => `${list}_base ${integer} NOT NULL DEFAULT 0,`).join('\n    ')}
    PRIMARY KEY (cell, id)
  )${clustered};

  CREATE TABLE history_portfolio (
    cell ${integer} NOT NULL,
    id ${text} NOT NULL,
    account ${text} NOT NULL,
    terms ${text} NOT NULL,
    opened ${integer} NOT NULL,
    last ${text},
    closed ${integer},
    PRIMARY KEY (cell, id)
  )${clustered};

  CREATE TABLE history_order (
    cell ${integer} NOT NULL,
    number ${integer} NOT NULL,
    portfolio ${text} NOT NULL,
    portfolio_n ${integer} NOT NULL,
    account ${text} NOT NULL,
    account_n ${integer} NOT NULL,
    client_order ${text},
    symbol ${text} NOT NULL,
    asset_class ${text} NOT NULL,
    created_at ${integer} NOT NULL,
    status ${text} NOT NULL,
    filled_on ${text},
    terms ${text} NOT NULL,
    progress ${text} NOT NULL,
    seq ${integer} NOT NULL,
    places ${text} NOT NULL,
    events ${integer} NOT NULL,
    PRIMARY KEY (cell, number)
  )${clustered};
  CREATE UNIQUE INDEX history_order_by_portfolio ON history_order (cell, portfolio, portfolio_n);
  CREATE UNIQUE INDEX history_order_by_account ON history_order (cell, account, account_n);
  CREATE INDEX history_order_by_day ON history_order (cell, filled_on) WHERE filled_on IS NOT NULL;
  CREATE INDEX history_order_by_client_order ON history_order (cell, portfolio, client_order) WHERE client_order IS NOT NULL;

  CREATE TABLE history_item (
    cell ${integer} NOT NULL,
    owner ${text} NOT NULL,
    list ${integer} NOT NULL,
    n ${integer} NOT NULL,
    seq ${integer} NOT NULL,
    at ${integer} NOT NULL,
    places ${text} NOT NULL,
    key ${text},
    PRIMARY KEY (cell, owner, list, n, seq)
  )${clustered};
  CREATE INDEX history_item_by_key ON history_item (cell, owner, list, key) WHERE key IS NOT NULL;

  CREATE TABLE history_standing (
    cell ${integer} NOT NULL,
    portfolio ${text} NOT NULL,
    minute ${integer} NOT NULL,
    holding ${integer} NOT NULL,
    moved_by ${integer},
    standing ${text} NOT NULL,
    first ${integer} NOT NULL,
    seq ${integer} NOT NULL,
    PRIMARY KEY (cell, portfolio, minute)
  )${clustered};

  CREATE TABLE history_mark (
    cell ${integer} NOT NULL,
    symbol ${text} NOT NULL,
    minute ${integer} NOT NULL,
    price ${integer} NOT NULL,
    first ${integer} NOT NULL,
    seq ${integer} NOT NULL,
    PRIMARY KEY (cell, symbol, minute)
  )${clustered};
`;

/** Tables with rows of a cell, and the rest of their keys. The cell itself is the last. */
export const HISTORY_TABLES = [
  ['history_owner', 'id'],
  ['history_portfolio', 'id'],
  ['history_order', 'number'],
  ['history_item', 'owner, list, n, seq'],
  ['history_standing', 'portfolio, minute'],
  ['history_mark', 'symbol, minute'],
  ['history_cell', 'cell'],
] as const;
