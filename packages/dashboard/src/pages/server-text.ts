/** Figures of a server as its operator reads them, and which of them call for attention. Pure. */
import type { ServerFigures } from '@sandpit/protocol';

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** `1.4 GB`: decimal units, as disks are sold. */
export function bytesText(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  // 999.96 MB would read as 1000.0 MB.
  if (power > 0 && power < UNITS.length - 1 && value >= 999.95) return `1.0 ${UNITS[power + 1] ?? ''}`;
  return `${power === 0 ? value : value.toFixed(1)} ${UNITS[power] ?? ''}`;
}

/** `12.5/s`, `0.02/s`. */
export const rateText = (perSecond: number): string =>
  `${perSecond === 0 ? '0' : perSecond < 1 ? perSecond.toFixed(2) : perSecond.toFixed(1)}/s`;

/** `1.9 ms`, `1.3 s`; a dash without requests. */
export function msText(ms: number | undefined): string {
  if (ms === undefined) return '–';
  return ms < 1000 ? `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** `3 d 4 h`, `12 min`. */
export function uptimeText(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** From here on an answer is slow for the slowest percent of requests, ms. */
const SLOW_MS = 250;
/** Less free space than this is little. */
const LITTLE_BYTES = 1e9;

export function toneOfServer({ traffic, cells, disk }: ServerFigures) {
  const bad = (is: boolean): '' | 'down' => (is ? 'down' : '');
  return {
    failures: bad(traffic.failuresPerSecond > 0),
    p99: bad((traffic.p99Ms ?? 0) > SLOW_MS),
    cells: bad(cells.outOfService > 0),
    disk: bad(disk !== undefined && disk.freeBytes < LITTLE_BYTES),
  };
}
