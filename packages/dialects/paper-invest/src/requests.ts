/** Translates the requests of Paper Invest's clients into those of `/v1`. Unknown values pass through for `/v1` to validate. */
import type { Mirror } from '@sandpit/dialect-port';

type Body = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Renames fields. A body with both names reaches `/v1` with both, which refuses it. */
function renamed(body: Body, names: Readonly<Record<string, string>>): Record<string, unknown> {
  const entries = Object.entries(body).map(([name, value]) => {
    const plain = Object.hasOwn(names, name) ? (names[name] ?? name) : name;
    return [plain !== name && Object.hasOwn(body, plain) ? name : plain, value] as const;
  });
  return Object.fromEntries(entries);
}

const SESSIONS: Readonly<Record<string, string>> = { PRE_MARKET: 'EXTENDED', AFTER_HOURS: 'EXTENDED' };

/** `type`, `side` with four values, `session`, and an `accountId` that the portfolio knows anyway. */
function orderOf(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const {
    accountId: _account,
    session,
    ...rest
  } = renamed(body, { type: 'orderType', side: 'positionIntent' });
  const named = typeof session === 'string' && Object.hasOwn(SESSIONS, session) ? SESSIONS[session] : session;
  return {
    assetClass: 'EQUITY',
    timeInForce: 'DAY',
    ...rest,
    // The usual one, which needs no saying.
    ...(named !== undefined && named !== 'REGULAR' && { session: named }),
  };
}

/** `type` contains the account type or the portfolio type. */
function portfolioOf(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const { type, ...rest } = body;
  const said =
    type === undefined
      ? {}
      : type === 'CASH' || type === 'MARGIN'
        ? { portfolioType: type }
        : { accountType: type };
  return { portfolioType: 'CASH', accountType: 'INDIVIDUAL', brokerId: 'default', ...said, ...rest };
}

/** An agreement without a kind is one to Regulation T. */
function marginUpgradeOf(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const { marginAgreement, ...rest } = body;
  return marginAgreement === true ? { marginType: 'REG_T', ...rest } : body;
}

/** Translations of bodies by operation; all others need none. */
export const bodies: Mirror['bodies'] = {
  createOrder: orderOf,
  previewOrder: orderOf,
  createOrders: (body) => (isRecord(body) ? { ...body, orderData: orderOf(body['orderData']) } : body),
  createPortfolio: portfolioOf,
  upgradeMargin: marginUpgradeOf,
};
