/** The net price of legs as the ticket shows it: an amount, and a debit or a credit. Pure. */

import { price } from '../format.ts';

export type NetSide = 'DEBIT' | 'CREDIT';

/** A limit in the address: negative for a credit. */
export const sideOfNet = (limit: string, asked: string | null): NetSide =>
  /^\s*[-−]/.test(limit) || (limit.trim() === '' && asked === 'CREDIT') ? 'CREDIT' : 'DEBIT';

/** The amount that the field shows, without its sign. */
export const amountOfNet = (limit: string): string => limit.replace(/^\s*[-−]\s*/, '');

/** The limit of a typed amount. A sign that is typed chooses the side. */
export function limitOfNet(typed: string, side: NetSide): { readonly limit: string; readonly net: NetSide } {
  const amount = amountOfNet(typed);
  const net = amount === typed ? side : 'CREDIT';
  return { limit: amount.trim() === '' ? '' : `${net === 'CREDIT' ? '-' : ''}${amount}`, net };
}

/** `2.05 debit`, `0.34 credit`; a dash for an unknown price. */
export const netText = (net: number | undefined): string =>
  net === undefined ? price(net) : `${price(Math.abs(net))} ${net < 0 ? 'credit' : 'debit'}`;
