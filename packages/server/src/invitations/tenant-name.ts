import { randomInt } from 'node:crypto';

const LONGEST = 20;
const DRAWN = 5;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Letters of the Latin script that have no decomposition, as they are written without their marks. */
const PLAIN: Readonly<Record<string, string>> = {
  æ: 'ae',
  ð: 'd',
  đ: 'd',
  ı: 'i',
  ł: 'l',
  ø: 'o',
  œ: 'oe',
  ß: 'ss',
  þ: 'th',
};

/** A display name in lower-case letters, digits and hyphens, at most 20; `member` if it has none of these. */
export function plainName(displayName: string): string {
  const plain = displayName
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[æðđıłøœßþ]/g, (letter) => PLAIN[letter] ?? '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, LONGEST)
    .replace(/-+$/, '');
  return plain === '' ? 'member' : plain;
}

/** Id of a new member's tenant: the plain name and five drawn characters. */
export const drawTenantId = (displayName: string): string =>
  `${plainName(displayName)}-${Array.from({ length: DRAWN }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`;
