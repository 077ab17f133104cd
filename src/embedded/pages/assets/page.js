// Copies to the clipboard and uploads files. Everything else on the pages works without a script.

showCopyButtons(document);

/** Makes the buttons below an element copy. */
function showCopyButtons(element) {
  for (const button of element.querySelectorAll('[data-copy]')) {
    const name = button.textContent;
    button.hidden = false;
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(button.dataset.copy);
        button.textContent = 'Copied';
      } catch {
        button.textContent = 'Not copied';
      }
      setTimeout(() => {
        button.textContent = name;
      }, 2000);
    });
  }
}

const form = document.querySelector('#upload');
if (form !== null) {
  const input = form.querySelector('input[type=file]');
  input.addEventListener('change', () => {
    const files = [...input.files];
    // Otherwise choosing the same file again would do nothing.
    input.value = '';
    uploadAll(files);
  });
  form.addEventListener('dragover', event => {
    event.preventDefault();
    form.classList.add('over');
  });
  form.addEventListener('dragleave', () => form.classList.remove('over'));
  form.addEventListener('drop', event => {
    event.preventDefault();
    form.classList.remove('over');
    uploadAll([...event.dataTransfer.files]);
  });
}

async function uploadAll(files) {
  const list = document.querySelector('#uploads');
  list.replaceChildren();
  let stored = 0;
  for (const file of files) {
    const line = document.createElement('li');
    line.textContent = `${file.name}: uploading`;
    list.append(line);
    const problem = await upload(file);
    line.textContent = `${file.name}: ${problem === undefined ? 'stored' : `not stored. ${problem}`}`;
    line.classList.toggle('refused', problem !== undefined);
    if (problem === undefined) stored += 1;
  }
  if (stored > 0) await showStored();
}

/** Shows what is stored now, on the first page of the list. The messages about the uploads stay. */
async function showStored() {
  const response = await fetch('/', {headers: {Accept: 'text/html'}});
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('#stored');
  if (fresh === null) return location.assign('/');
  document.querySelector('#stored').replaceWith(fresh);
  showCopyButtons(fresh);
  history.replaceState(null, '', '/');
}

/** Uploads a file; resolves with a sentence about the problem, or undefined on success. */
async function upload(file) {
  try {
    const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    // Browsers take .svgz for SVG, but show it only with a header field that uploads do not keep.
    if (first === 0x1f && second === 0x8b)
      return 'It is a gzip archive. Unpack it, and upload the images and videos in it.';
  } catch {
    return 'It could not be read. If it is a folder, choose the files in it.';
  }
  try {
    const response = await fetch('/v1/media/upload', {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${form.dataset.uploadKey}`,
        'Content-Type': file.type || 'application/octet-stream',
      },
      body: file,
    });
    return response.ok ? undefined : sentenceFor(response.status, file);
  } catch {
    return 'The connection broke. Check whether media serve is still running, and try again.';
  }
}

/** What a status means to a person who chose a file. */
function sentenceFor(status, file) {
  if (status === 400 && file.size === 0) return 'It is empty.';
  if (status === 401) return 'You are no longer signed in. Reload the page.';
  if (status === 413) return `It is too large: a file may have at most ${form.dataset.largest}.`;
  const isTypeKnown = !['', 'application/octet-stream'].includes(file.type);
  if (status === 415 && isTypeKnown) return 'It is not an image or a video.';
  if (status === 415) return 'Your browser does not know its type. Upload it with: media upload';
  if (status === 507) return 'There is no space left for it. Delete something first.';
  return `The service could not store it (status ${status}). Try again later.`;
}
