/** Style of a report: for screens, dark ones too, and for paper. */
export const REPORT_STYLE = `
:root{--ink:#16202c;--soft:#5b6877;--line:#e3e8ee;--ground:#fff;--card:#f7f9fb;--gain:#0f7b54;--loss:#b3382c;--plain:#2457c5}
@media (prefers-color-scheme:dark){:root{--ink:#e6ebf1;--soft:#9aa7b5;--line:#2b3542;--ground:#11161d;--card:#19212b;--gain:#43c08d;--loss:#f08a7d;--plain:#86abff}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1040px;margin:0 auto;padding:40px 24px 56px}
header{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:flex-end;gap:8px 32px;border-bottom:2px solid var(--ink);padding-bottom:16px}
h1{font-size:28px;line-height:1.2;margin:0;letter-spacing:-.01em}
h2{font-size:17px;margin:40px 0 10px;break-after:avoid}
p{margin:4px 0}
.soft,.none,footer{color:var(--soft)}
.tiles{display:grid;grid-template-columns:repeat(4,1fr);gap:12px;margin-top:24px}
.tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 16px}
.tile span{display:block;color:var(--soft);font-size:13px}
.tile b{font-size:22px;font-weight:650;letter-spacing:-.01em}
.gain{color:var(--gain)}.loss{color:var(--loss)}
svg{display:block;width:100%;height:auto}
svg text{font-size:12px;fill:var(--soft)}
svg .y,svg .end{text-anchor:end}svg .x{text-anchor:middle}
.grid{stroke:var(--line);fill:none}
.line{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke:var(--plain)}
.line.loss{stroke:var(--loss)}.line.gain{stroke:var(--gain)}
.area{opacity:.14;fill:var(--plain);stroke:none}.area.loss{fill:var(--loss)}.area.gain{fill:var(--gain)}
rect.gain{fill:var(--gain)}rect.loss{fill:var(--loss)}rect.plain{fill:var(--plain)}
.two{display:grid;grid-template-columns:1fr 1fr;gap:0 40px}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px}
th{color:var(--soft);font-weight:500;text-align:left;border-bottom:1px solid var(--line);padding:6px 8px;white-space:nowrap}
td{padding:5px 8px;border-bottom:1px solid var(--line);white-space:nowrap}
th.n,td.n{text-align:right}
.months td{text-align:right}.months th:not(:first-child){text-align:right}
tr{break-inside:avoid}
footer{margin-top:40px;border-top:1px solid var(--line);padding-top:12px;font-size:13px}
@media (max-width:760px){.tiles{grid-template-columns:repeat(2,1fr)}.two{grid-template-columns:1fr}main{padding:20px 14px}}
@media print{main{max-width:none;padding:0}body{font-size:12px}.tile,rect,.area{print-color-adjust:exact}}
`
  .replaceAll('\n', '')
  .trim();
