import tseslint from 'typescript-eslint';

/** What ECMAScript does not fix to the last bit. */
const INEXACT =
  'exp expm1 log log1p log10 log2 sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh cbrt hypot'.split(
    ' ',
  );

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/node_modules/**',
      'coverage/**',
      'data/**',
      'samples/**',
      'eslint.config.js',
      'packages/dashboard/*.js',
      'packages/site/**',
      'scripts/command.js',
      'scripts/compile.js',
      'scripts/start.js',
      'scripts/when-changed.js',
      'packages/cli/bin/*.js',
      // Programs as users of other services write them.
      'scripts/compatibility/*.mjs',
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        // One program for all sources and tests: a program for each package checks what they share again.
        project: ['./packages/dashboard/tsconfig.json', './tsconfig.lint.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      // A field taken out of an object to leave the rest is meant.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
    },
  },
  {
    files: ['packages/core/src/**/*.ts'],
    // The slow twin shares nothing with what it checks, its arithmetic least of all.
    ignores: ['**/*.test.ts', 'packages/core/src/testing/slow-options.ts'],
    rules: {
      'no-restricted-globals': ['error', 'Date', 'Intl', 'performance'],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'Chance comes from the seed.' },
        { object: 'Math', property: 'pow', message: 'Fractional powers differ between Node versions.' },
        ...INEXACT.map((property) => ({
          object: 'Math',
          property,
          message:
            'Its last bits are left to the engine (D125); options/model/exponential.ts has exp and log.',
        })),
      ],
    },
  },
  {
    files: ['packages/core/src/options/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: "BinaryExpression[operator='**']",
          message: 'Its last bits are left to the engine (D125).',
        },
      ],
    },
  },
  {
    files: ['**/*.test.ts', '**/*.contract.ts', 'packages/core/src/testing/slow-options.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    // Answers of the API are looked into by tests that know what they expect, and held against the contract by `TestClient`.
    files: [
      'packages/server/src/http/**/*.test.ts',
      'packages/server/src/webhooks/interleavings.test.ts',
      'packages/dialects/*/test/*.ts',
      'packages/server/src/feeds/live/source.contract.ts',
      'packages/server/src/feeds/live/**/*.test.ts',
      'packages/server/src/terminal.test.ts',
      'packages/server/src/testing/test-app.ts',
    ],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
);
