// Copies to the clipboard and uploads files. Everything else on the pages works without a script.

for (const button of document.querySelectorAll('[data-copy]')) {
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

const form = document.querySelector('#upload');
if (form !== null) {
  const input = form.querySelector('input[type=file]');
  input.addEventListener('change', () => uploadAll([...input.files]));
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
  let failed = 0;
  for (const file of files) {
    const line = document.createElement('li');
    line.textContent = `${file.name}: uploading`;
    list.append(line);
    const problem = await upload(file);
    line.textContent = `${file.name}: ${problem ?? 'stored'}`;
    if (problem !== undefined) failed += 1;
  }
  // New media appear on the first page. If an upload failed, stay here so that the message can be read.
  if (failed === 0 && files.length > 0) location.assign('/');
}

/** Uploads a file; resolves with an error message, or undefined on success. */
async function upload(file) {
  try {
    const response = await fetch('/v1/media/upload', {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${form.dataset.uploadKey}`,
        'Content-Type': file.type || 'application/octet-stream',
      },
      body: file,
    });
    return response.ok ? undefined : (await response.json()).message;
  } catch {
    return 'The connection broke.';
  }
}
