/** What a tenant has subscribed to (contract section 8). */
export type Tier = 'BASIC' | 'PRO' | 'ENTERPRISE';
