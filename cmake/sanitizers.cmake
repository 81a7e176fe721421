if(HANDLEPOOL_SANITIZE)
    add_compile_options(-fsanitize=${HANDLEPOOL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${HANDLEPOOL_SANITIZE})
endif()
