/** An index: quoted, and what options are settled by; never ordered and never held. */
export interface IndexUnderlying {
  readonly assetClass: 'INDEX';
  readonly symbol: string;
  readonly name: string;
}
