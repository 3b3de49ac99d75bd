import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { directImports } from './direct-imports.js';

const direct = directImports(fileURLToPath(new URL('../..', import.meta.url)));

it('directImports: imports each name from the module that declares it', () => {
  expect(direct(`import { Instant, Money as Amount, } from '@sandpit/core';`)).toMatch(
    /^import \{ Instant as Instant \} from ".*\/packages\/core\/dist\/values\/instant\.js"; import \{ Money as Amount \} from ".*\/core\/dist\/values\/money\.js";$/,
  );
  expect(direct(`import { Account } from '@sandpit/protocol';`)).toContain('/protocol/dist/accounts.js"');
});

it('directImports: leaves other imports unchanged', () => {
  const code = `import { join } from 'node:path';\nimport { other } from './other.js';`;
  expect(direct(code)).toBe(code);
});

it('directImports: refuses a name that the package does not export', () => {
  expect(() => direct(`import { Nothing } from '@sandpit/core';`)).toThrow(
    '@sandpit/core does not export Nothing',
  );
});
