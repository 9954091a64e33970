-- The Neovim (0.7 or later) of editor-picture.py: the language server, and a colour scheme for a dark picture.
vim.o.number = true
vim.o.wrap = false
vim.o.signcolumn = 'yes'
vim.o.laststatus = 0
vim.o.ruler = false
vim.o.showcmd = false
vim.o.swapfile = false
vim.o.completeopt = 'menu'
vim.o.shortmess = vim.o.shortmess .. 'FIc'
vim.o.fillchars = 'eob: '
vim.cmd('syntax on')
for name, colors in pairs({
  LineNr = 'ctermfg=240', SignColumn = 'ctermbg=none', NormalFloat = 'ctermfg=252 ctermbg=236', Comment = 'ctermfg=244', yamlBlockMappingKey = 'ctermfg=110',
  DiagnosticError = 'ctermfg=210', DiagnosticWarn = 'ctermfg=179', DiagnosticInfo = 'ctermfg=110', DiagnosticHint = 'ctermfg=108',
  Pmenu = 'ctermfg=252 ctermbg=236', PmenuSel = 'ctermfg=16 ctermbg=110', DiagnosticUnderlineError = 'cterm=underline', DiagnosticUnderlineWarn = 'cterm=underline',
}) do
  vim.cmd('highlight ' .. name .. ' ' .. colors)
end
vim.diagnostic.config({ virtual_text = { prefix = '■' }, update_in_insert = true, severity_sort = true })
vim.api.nvim_create_autocmd('FileType', {
  pattern = { 'yaml', 'json' },
  callback = function()
    local folder = vim.fn.getcwd()
    local client = vim.lsp.start_client({
      name = 'crdx',
      cmd = { vim.env.CRDX, 'lsp' },
      root_dir = folder,
      workspace_folders = { { uri = vim.uri_from_fname(folder), name = folder } },
    })
    vim.lsp.buf_attach_client(0, client)
    vim.bo.omnifunc = 'v:lua.vim.lsp.omnifunc'
    vim.keymap.set('n', 'K', vim.lsp.buf.hover, { buffer = 0 })
  end,
})
