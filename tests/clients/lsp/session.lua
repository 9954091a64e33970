-- Drives `kubectl-crdx lsp` from Neovim (0.7 or later): 200 edits of a buffer, and after each one the diagnostics must be what
-- `validate -o json` reports for the same text. Then a hover text and a quick fix.
--
--     CRDX=BINARY nvim --headless -u NONE -c 'luafile session.lua'
local binary = vim.env.CRDX or 'kubectl-crdx'
local EDITS = 200
local PIECES = { '', '', 'x', '0', '13', ': ', '\n', '  ', '- ', '😀', '"', 'red', 'length', 'null', '{', '}', '#', 'é', '\n---\n' }
local CRD = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h') .. '/kites.crd.yaml'

local function kite(name)
  return 'apiVersion: toys.example.com/v1\nkind: Kite\nmetadata: {name: ' .. name .. '}\nspec:\n  length: 3\n  colour: red\n'
end

local function write(path, text)
  local file = assert(io.open(path, 'wb'))
  file:write(text)
  file:close()
end

local folder = vim.fn.tempname()
vim.fn.mkdir(folder .. '/crds', 'p')
write(folder .. '/crds/kites.yaml', table.concat(vim.fn.readfile(CRD), '\n') .. '\n')
local path = folder .. '/kite.yaml'
write(path, kite('a'))

local published
local exit_code
local client = vim.lsp.start_client({
  name = 'crdx',
  cmd = { binary, 'lsp' },
  root_dir = folder,
  workspace_folders = { { uri = vim.uri_from_fname(folder), name = folder } },
  flags = { debounce_text_changes = 0, allow_incremental_sync = true },
  handlers = { ['textDocument/publishDiagnostics'] = function(_, result) published = result end },
  on_exit = function(code) exit_code = code end,
})
vim.cmd('edit ' .. path)
local buffer = vim.api.nvim_get_current_buf()
vim.lsp.buf_attach_client(buffer, client)

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), '\n') .. '\n'
end

-- The diagnostics of the current version of the buffer.
local function diagnostics()
  local arrived = vim.wait(20000, function()
    return published and published.version == vim.lsp.util.buf_versions[buffer]
  end, 1)
  assert(arrived, 'no diagnostics for version ' .. tostring(vim.lsp.util.buf_versions[buffer]))
  local found = {}
  for _, one in ipairs(published.diagnostics) do
    table.insert(found, one.range.start.line .. ':' .. one.range.start.character .. ' ' .. one.message)
  end
  table.sort(found)
  return found
end

local function utf16(line)
  local _, units = vim.str_utfindex(line)
  return units
end

-- What `validate` reports for a text.
local function validated(content)
  write(path, content)
  -- Notes go to standard error.
  local out = vim.fn.system({ 'sh', '-c', '"$0" "$@" 2>/dev/null', binary, 'validate', '--offline', '--skip-non-objects', '-o', 'json', '--crds', folder .. '/crds', path })
  local report = vim.json.decode(out, { luanil = { object = true, array = true } })
  local lines = vim.split(content, '\n', { plain = true })
  local found = {}
  local function show(problem, message)
    local location = problem.location or {}
    local given = math.max(location.line or 1, 1)
    -- An error at the end of the input may be on the line after the last one.
    local line = math.min(given, #lines)
    local before = given > line and lines[line] or vim.fn.strcharpart(lines[line], 0, math.max(location.column or 1, 1) - 1)
    local help = problem.help and '\nhelp: ' .. problem.help or ''
    table.insert(found, line - 1 .. ':' .. utf16(before) .. ' ' .. message .. help)
  end
  for _, item in ipairs(report.items) do
    for _, list in ipairs({ 'errors', 'hiddenErrors', 'warnings' }) do
      for _, problem in ipairs(item[list] or {}) do
        show(problem, problem.message)
      end
    end
    if item.verdict == 'cannotTell' then
      show(item, item.reason)
    end
  end
  table.sort(found)
  return found
end

local state = 11
local function random(below)
  state = (state * 1103515 + 12345) % 2147483648
  return math.floor(state / 256) % below
end

local function replace(lines)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, lines)
end

-- The start of a character of a line, in bytes; the end of the line is one, too.
local function column(line)
  return vim.str_byteindex(line, random(vim.str_utfindex(line) + 1))
end

local function session()
  local different = 0
  diagnostics()
  for edit = 1, EDITS do
    if edit % 12 == 1 then
      replace(vim.split(kite('k' .. edit) .. '---\n' .. kite('l' .. edit):sub(1, -2), '\n', { plain = true }))
    else
      local row = random(vim.api.nvim_buf_line_count(buffer))
      local line = vim.api.nvim_buf_get_lines(buffer, row, row + 1, true)[1]
      local from = column(line)
      local rest = line:sub(from + 1)
      local to_row, to = row, from + vim.str_byteindex(rest, math.min(random(4), (vim.str_utfindex(rest))))
      if from == #line and row + 1 < vim.api.nvim_buf_line_count(buffer) and random(2) == 0 then
        to_row, to = row + 1, 0
      end
      local piece = PIECES[random(#PIECES) + 1]
      vim.api.nvim_buf_set_text(buffer, row, from, to_row, to, vim.split(piece, '\n', { plain = true }))
    end
    local shown = diagnostics()
    local wanted = validated(text())
    if not vim.deep_equal(shown, wanted) then
      different = different + 1
      print('edit ' .. edit .. ':\n' .. text() .. 'editor ' .. vim.inspect(shown) .. '\nvalidate ' .. vim.inspect(wanted))
    end
  end
  print(('%d edits, %d with other diagnostics than validate'):format(EDITS, different))
  assert(different == 0)

  replace(vim.split(kite('a'):gsub('colour', 'colur'):sub(1, -2), '\n', { plain = true }))
  assert(diagnostics()[1]:find('did you mean `colour`', 1, true), vim.inspect(diagnostics()))
  local document = { uri = vim.uri_from_bufnr(buffer) }
  local function request(method, params)
    local answer = assert(vim.lsp.buf_request_sync(buffer, method, params, 10000))[client]
    assert(answer.error == nil, vim.inspect(answer.error))
    return answer.result
  end
  local hover = request('textDocument/hover', { textDocument = document, position = { line = 4, character = 4 } })
  assert(hover.contents.value:find('Its length in metres.', 1, true), vim.inspect(hover))
  local at = { line = 5, character = 3 }
  local range = { start = at, ['end'] = at }
  local actions = request('textDocument/codeAction', { textDocument = document, range = range, context = { diagnostics = {} } })
  vim.lsp.util.apply_workspace_edit(actions[1].edit, 'utf-16')
  assert(text() == kite('a'), text())
  assert(#diagnostics() == 0, vim.inspect(diagnostics()))
  vim.lsp.stop_client(client)
  assert(vim.wait(10000, function() return exit_code ~= nil end, 10), 'the server does not end')
  assert(exit_code == 0, 'exit code ' .. tostring(exit_code))
end

local ok, failure = pcall(session)
vim.fn.delete(folder, 'rf')
if not ok then
  print(failure)
end
vim.cmd(ok and 'qall!' or 'cquit 1')
