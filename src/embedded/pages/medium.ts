import {Refusal} from '../exchange/refusal.ts';
import {mediaRecord, type StoredRecord} from '../store/stored-record.ts';
import {readForm} from './form.ts';
import {copyButton, deleteForm} from './gallery.ts';
import {html} from './html.ts';
import type {PageRequest} from './page-request.ts';
import {wholeMedium} from './preview.ts';
import {redirectTo, respondPage} from './respond-page.ts';
import {factsText, timeText} from './texts.ts';

/** GET of /media/ID: a medium and its record. */
export async function medium({exchange, service, session}: PageRequest, id: string): Promise<void> {
  const record = await found(service.store.find(id));
  const {urls: _, ...fields} = mediaRecord(record, service.publicUrl());
  const rows = Object.entries({...fields, contentType: record.contentType, sha256: record.sha256});
  respondPage(
    exchange,
    200,
    {title: factsText(record), place: 'elsewhere', pageToken: session.pageToken},
    html`
    <div class="medium">${wholeMedium(record)}</div>
    <dl class="box">
      ${rows.map(([name, value]) => {
        const text = String(value);
        const copy = /^id$|Url$/.test(name) ? copyButton(text, 'Copy') : undefined;
        return html`<div><dt>${name}</dt><dd><code>${text}</code> ${copy}</dd></div>`;
      })}
      <div><dt>stored</dt><dd>${timeText(record.createdAt)}</dd></div>
    </dl>
    <div class="actions"><a href="/files/${id}">Open the file</a> ${deleteForm(id, session.pageToken)}</div>`,
  );
}

/** POST of /media/ID/delete. */
export async function deleteMedium(page: PageRequest, id: string): Promise<void> {
  await readForm(page);
  await page.service.store.remove((await found(page.service.store.find(id))).id);
  redirectTo(page.exchange, '/');
}

async function found(finding: Promise<StoredRecord | undefined>): Promise<StoredRecord> {
  const record = await finding;
  if (record === undefined) throw new Refusal(404, 'There is no such medium. It may have been deleted.');
  return record;
}
