/** Margin rules of a MARGIN portfolio. */
export type MarginType = 'REG_T' | 'PORTFOLIO';

/** Risk model of portfolio margin. */
export type MarginEngine = 'SIMPLE' | 'SPAN' | 'TIMS';
