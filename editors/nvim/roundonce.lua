-- Neovim 0.8 and newer: copy it to ~/.config/nvim/plugin/roundonce.lua.
vim.filetype.add({ extension = { ptx = "ptx", spvasm = "spirv", sass = "sass" } })
vim.api.nvim_create_autocmd("FileType", {
  pattern = { "ptx", "spirv", "sass" },
  callback = function(event)
    vim.lsp.start({ name = "roundonce", cmd = { "roundonce", "lsp" }, root_dir = vim.fn.fnamemodify(event.file, ":p:h") })
    if vim.lsp.inlay_hint then
      vim.lsp.inlay_hint.enable(true, { bufnr = event.buf })
    end
  end,
})
